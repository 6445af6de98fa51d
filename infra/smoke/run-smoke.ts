import { randomInt, randomUUID } from 'node:crypto';
import { chatSteps } from './chat-steps.ts';
import { closingSteps } from './closing-steps.ts';
import { compactionSteps } from './compaction-steps.ts';
import { runSteps, type StepResult } from './run-steps.ts';
import { serviceSteps } from './service-steps.ts';
import { createSmokeClient } from './smoke-client.ts';
import type { SmokeContext, SmokeOptions } from './smoke-context.ts';

/**
 * Checks a deployment from end to end by its public API, with a conversation of its own, which it erases again.
 * Resolves to what became of each step, in order.
 */
export async function runSmoke(
  url: string,
  options: SmokeOptions,
  tell: (result: StepResult) => void = () => undefined,
): Promise<StepResult[]> {
  const context: SmokeContext = {
    client: createSmokeClient({ url, headers: {} }),
    options,
    conversationId: randomUUID(),
    // With a figure in it: a fact that every summary must keep, which a bare word is not.
    codeWord: options.codeWord ?? `zebra${randomInt(100_000, 1_000_000)}`,
    sent: [],
  };
  const steps = [...serviceSteps, ...chatSteps, ...compactionSteps, ...closingSteps];
  return runSteps(steps, context, tell);
}
