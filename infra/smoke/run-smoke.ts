import { randomInt, randomUUID } from 'node:crypto';
import { create, fill, send, streaming } from './chat-steps.ts';
import { compact, snapshot } from './compaction-steps.ts';
import { runSteps, type StepResult } from './run-steps.ts';
import { erase, health, signIn } from './service-steps.ts';
import { createSmokeClient } from './smoke-client.ts';
import type { SmokeContext, SmokeOptions } from './smoke-context.ts';

const steps = [health, signIn, create, send, streaming, fill, compact, snapshot, erase];

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
  };
  return runSteps(steps, context, tell);
}
