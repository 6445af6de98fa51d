import { z } from 'zod';
import { readStep, type AgentCase, type Step } from './agent-cases.ts';
import { startCaseWorld, type CaseWorld } from './case-world.ts';
import { createChatClient, Refusal } from './chat-client.ts';
import { explain } from './known-differences.ts';
import { runAbort, runGetSnapshot, runWait } from './later-steps.ts';
import { otherConcept } from './other-concepts.ts';
import { runSend } from './send-step.ts';

export interface Verdict {
  name: string;
  mark: '✔' | '✘' | 'not applicable';
  why: string;
}

/** Steps as they stand in the file, with any word in the place of what earlier steps give. */
function readSteps({ steps }: AgentCase): Step[] {
  const names = JSON.stringify(steps).matchAll(/\{\{(\w+)\}\}/g);
  const anything = new Map([...names].map(([, name = '']) => [name, name]));
  return steps.map((step) => readStep(step, anything));
}

function runStep(world: CaseWorld, step: Step, captured: Map<string, unknown>) {
  const adapter = { world, client: createChatClient(world.server) };
  switch (step.type) {
    case 'send':
      return runSend(adapter, step, captured);
    case 'getSnapshotData':
      return runGetSnapshot(adapter, step);
    case 'abort':
      return runAbort(adapter, step);
    case 'waitUntilCompleted':
      return runWait(adapter, step);
  }
}

/** The first step that is not as expected, and what of it. */
async function firstDifference(world: CaseWorld, { steps }: AgentCase) {
  const captured = new Map<string, unknown>();
  for (const [index, raw] of steps.entries()) {
    const step = readStep(raw, captured);
    const difference = await Promise.resolve(runStep(world, step, captured)).catch(
      (error: unknown) => {
        if (error instanceof Refusal) return `refused with ${error.reason}: ${error.message}`;
        throw error;
      },
    );
    if (difference !== undefined) return `step ${index + 1} (${step.type}): ${difference}`;
  }
  return undefined;
}

const firstUpper = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

const toSentence = (translations: ReadonlySet<string>) =>
  translations.size === 0 ? 'As it stands.' : `${firstUpper([...translations].join('; '))}.`;

/** Runs a case against a service of its own. A case with fields that the adapter does not know is not applicable. */
export async function runCase(agentCase: AgentCase): Promise<Verdict> {
  const { name } = agentCase;
  let why: string | undefined;
  try {
    why = otherConcept(agentCase, readSteps(agentCase));
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    why = `The adapter does not know this case: ${z.prettifyError(error).replaceAll(/\s+/g, ' ')}`;
  }
  if (why !== undefined) return { name, mark: 'not applicable', why };
  const world = await startCaseWorld(agentCase.agent);
  try {
    const difference = await firstDifference(world, agentCase);
    return difference === undefined
      ? { name, mark: '✔', why: toSentence(world.translations) }
      : { name, mark: '✘', why: explain(name, difference) };
  } finally {
    await world.stop();
  }
}
