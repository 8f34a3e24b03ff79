"""Threads, resumable jobs, memory checks, progress and pacing: what every long computation shares."""
