"""The graph of graphs/ring.yaml in LangGraph. On each line "STEPS TIMES" of
its input it makes so many traversals of so many steps, and says how many steps
were made."""

import importlib.metadata
import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    made: int
    steps: int


def visit(state: State) -> dict:
    return {"made": state["made"] + 1}


EDGES = {"a": ["b", "c"], "b": ["c", "d"], "c": ["d", "e"], "d": ["e", "a"], "e": ["a", "b", "c", END]}


def ask(targets):
    def answer(state: State) -> str:
        return targets[-1] if state["made"] == state["steps"] else targets[0]

    return answer


builder = StateGraph(State)
for name, targets in EDGES.items():
    builder.add_node(name, visit)
    builder.add_conditional_edges(name, ask(targets), targets)
builder.add_edge(START, "a")
graph = builder.compile()

print(importlib.metadata.version("langgraph"), "on Python", sys.version.split()[0], flush=True)
for line in sys.stdin:
    steps, times = map(int, line.split())
    made = 0
    for _ in range(times):
        made += graph.invoke({"made": 0, "steps": steps}, {"recursion_limit": steps + 1})["made"]
    print(made, flush=True)
