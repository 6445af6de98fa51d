import { localConfig } from '#infra/local/local-config.ts';
import { createScriptedModel, type ScriptedAnswer } from '#test/fakes/scripted-model.ts';
import { autoRequest } from './compacted-conversation.ts';
import { compactionBench, type CompactionBench } from './compaction-dependencies.ts';
import { lifecycle, setConversation, type Lifecycle } from '../chat/lifecycle.ts';

export type StrategyName = 'ledger' | 'gemini-cli';
export const strategies: StrategyName[] = ['ledger', 'gemini-cli'];

/** The worker's configuration with one way to write snapshots. */
export const configOf = (strategy: StrategyName, environment: Record<string, string> = {}) =>
  localConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-recap',
    PUBSUB_EMULATOR_HOST: 'localhost:1',
    SUMMARY_STRATEGY: strategy,
    ...environment,
  });

/** A worker whose summariser gives these answers, the last one again and again. */
export const benchWith = (
  strategy: StrategyName,
  answers: readonly ScriptedAnswer[],
  overrides: Partial<CompactionBench> = {},
): CompactionBench =>
  compactionBench({
    config: configOf(strategy),
    model: createScriptedModel({ answers }),
    ...overrides,
  });

/** Chat and such a worker on one store. */
export const worldWith = (
  strategy: StrategyName,
  answers: readonly ScriptedAnswer[],
  chat: Parameters<typeof lifecycle>[0] = {},
): Lifecycle =>
  lifecycle(chat, ({ store } = {}) => benchWith(strategy, answers, store ? { store } : {}));

/** Asks for the next compaction as chat does. */
export const needAgain = (
  { store }: Pick<Lifecycle, 'store'>,
  conversationId: string,
  requestId: string,
) =>
  setConversation({ store }, conversationId, { compactionRequests: { ...autoRequest(requestId) } });
