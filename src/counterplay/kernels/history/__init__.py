"""Kernels over history trees and sequence forms."""
