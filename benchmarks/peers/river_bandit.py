"""River's contextual policy: LinUCB with one regression per action."""

from __future__ import annotations

from benchmarks.peers.rounds import Play, Rounds


def linucb(rounds: Rounds) -> Play:
    from river import bandit

    names = [f"x{feature}" for feature in range(rounds.X.shape[1])]
    contexts = [{"one": 1.0, **dict(zip(names, x, strict=True))} for x in rounds.X.tolist()]
    rewards, actions = rounds.rewards.tolist(), list(range(rounds.n_actions))

    def play() -> list[float]:
        policy, earned = bandit.LinUCBDisjoint(seed=1), []
        for context, would_earn in zip(contexts, rewards, strict=True):
            action = policy.pull(actions, context=context)
            policy.update(action, context, would_earn[action])
            earned.append(would_earn[action])
        return earned

    return play
