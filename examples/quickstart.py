"""Solve Kuhn poker and look at the strategy."""

import counterplay as cp

result = cp.solve("kuhn", algorithm="cfr+", until=1e-6)
print(f"value {result.value[0]:+.6f} (exactly -1/18 = {-1 / 18:+.6f})")
print(f"exploitability {result.exploitability:.1e} after {result.iterations:,} iterations")
for player, infoset, row in result.profile.infosets():
    actions = ", ".join(f"{action} {probability:.3f}" for action, probability in row.items())
    print(f"player {player + 1} at {infoset:<5} {actions}")
