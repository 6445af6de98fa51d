import { usageCostMicros } from '../../../../shared/compaction/prices.ts';
import { turnId } from '../../../../shared/conversation/paths.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import { AppError } from '../../../../shared/errors.ts';
import type { ModelRequest, ModelUsage } from '../../../../shared/ports.ts';
import { titlePrompt } from '../../../../shared/titles/title-prompt.ts';
import { titleIn } from '../../../../shared/titles/title-text.ts';
import { spendOnWork } from '../../quota/spend-on-work.ts';
import { untilAborted } from '../answer/abortable.ts';
import { timeoutAfter } from '../answer/timeout-after.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** A title that takes longer is not waited for, ms. */
export const TITLE_TIMEOUT_MS = 5_000;

/** A title has a dozen tokens; some models think before. */
const TITLE_MAX_TOKENS = 256;
/** What is read of an answer that does not end, UTF-16 units. */
const ANSWER_CHARACTERS = 2_000;

/** Turns to be named, of a conversation and its owner. */
export interface ToBeNamed {
  conversationId: string;
  ownerUid: string;
  throughSeq: number;
  turns: readonly Pick<Turn, 'user' | 'contents'>[];
}

interface Asked {
  text: string;
  usage?: ModelUsage | undefined;
  finishReason?: string | undefined;
}

async function ask(
  { model }: Pick<ChatDependencies, 'model'>,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Asked> {
  const asked: Asked = { text: '' };
  for await (const chunk of untilAborted(model.stream(request, signal), signal)) {
    for (const { text = '', thought } of chunk.parts) if (thought !== true) asked.text += text;
    asked.usage = chunk.usage ?? asked.usage;
    asked.finishReason = chunk.blockReason ?? chunk.finishReason ?? asked.finishReason;
    if (asked.text.length > ANSWER_CHARACTERS) break;
  }
  return asked;
}

/** Counts what the title cost into the dollars of its user, where they are counted. */
async function bill(
  dependencies: ChatDependencies,
  { conversationId, ownerUid }: ToBeNamed,
  usage: ModelUsage,
): Promise<number | undefined> {
  const { config } = dependencies;
  const cost = usageCostMicros(config.TITLE_MODEL, usage, config.MODEL_PRICES);
  const tokens = usage.promptTokens + usage.outputTokens + usage.thoughtsTokens;
  const of = { conversationId, ownerUid };
  await spendOnWork(dependencies, { work: 'titles', ...of, tokens, costMicros: cost });
  return cost;
}

/**
 * Asks a cheap model for a title, for 5 s at most. Undefined when there was none that can be shown. Never
 * throws; the log says why there is none, and never what was said.
 */
export async function askForTitle(
  dependencies: ChatDependencies,
  named: ToBeNamed,
): Promise<string | undefined> {
  const { config, logger, shutdown } = dependencies;
  const { conversationId, throughSeq } = named;
  const request: ModelRequest = {
    ...titlePrompt(config.TITLE_MODEL, named.turns),
    maxOutputTokens: TITLE_MAX_TOKENS,
    role: 'utility_title',
    promptId: `${turnId(throughSeq)}-title`,
  };
  const timeout = timeoutAfter(dependencies, TITLE_TIMEOUT_MS);
  const fields = { conversationId, throughSeq, model: config.TITLE_MODEL };
  try {
    const asked = await ask(dependencies, request, AbortSignal.any([timeout.signal, shutdown]));
    const title = asked.finishReason === 'STOP' ? titleIn(asked.text) : undefined;
    const { usage } = asked;
    const cost = usage && (await bill(dependencies, named, usage));
    logger.log('INFO', title === undefined ? 'title_refused' : 'title_made', {
      ...fields,
      promptTokens: usage?.promptTokens,
      outputTokens: usage?.outputTokens,
      costMicros: cost,
    });
    return title;
  } catch (error) {
    const reason = error instanceof AppError ? error.reason : 'INTERNAL';
    logger.log('WARNING', 'title_failed', {
      ...fields,
      reason: timeout.signal.aborted ? 'TIMEOUT' : reason,
    });
    return undefined;
  } finally {
    timeout.stop();
  }
}
