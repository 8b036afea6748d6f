// The graph of graphs/ring.yaml in LangGraph. On each line "STEPS TIMES" of
// its input it makes so many traversals of so many steps, and says how many steps
// were made.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";

const State = Annotation.Root({ made: Annotation(), steps: Annotation() });
const edges = { a: ["b", "c"], b: ["c", "d"], c: ["d", "e"], d: ["e", "a"], e: ["a", "b", "c", END] };

const builder = new StateGraph(State);
for (const name of Object.keys(edges)) builder.addNode(name, (state) => ({ made: state.made + 1 }));
for (const [name, targets] of Object.entries(edges)) {
  builder.addConditionalEdges(name, (state) => (state.made === state.steps ? targets.at(-1) : targets[0]), targets);
}
builder.addEdge(START, "a");
const graph = builder.compile();

const { version } = JSON.parse(readFileSync(new URL("node_modules/@langchain/langgraph/package.json", import.meta.url)));
console.log(`${version} on Node.js ${process.versions.node}`);
for await (const line of createInterface({ input: process.stdin })) {
  const [steps, times] = line.split(" ").map(Number);
  let made = 0;
  for (let i = 0; i < times; i++) made += (await graph.invoke({ made: 0, steps }, { recursionLimit: steps + 1 })).made;
  console.log(made);
}
