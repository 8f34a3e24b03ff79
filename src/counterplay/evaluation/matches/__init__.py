"""Who is better, from few hands: estimators of match results with less variance than money."""
