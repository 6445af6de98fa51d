import { failureReason } from '#functions/lib/failure-reason.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';
import { titlePrompt } from '#shared/titles/title-prompt.ts';
import { titleIn } from '#shared/titles/title-text.ts';
import { timeoutAfter } from '#functions/lib/deadline.ts';
import { answeringModel } from '#functions/models/models-in-use.ts';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { callAuxiliaryModel } from '../routing/auxiliary-model-call.ts';

/** A title that takes longer is not waited for, ms. */
const TITLE_TIMEOUT_MS = 5_000;

/** A title has a dozen tokens; some models think before. */
const TITLE_MAX_TOKENS = 256;
/** What is read of an answer that does not end, UTF-16 units. */
const ANSWER_CHARACTERS = 2_000;

/** Turns to be named, of a conversation and its owner. */
interface ToBeNamed {
  conversationId: string;
  ownerUid: string;
  throughSeq: number;
  turns: readonly Pick<Turn, 'user' | 'contents'>[];
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
  const { conversationId, ownerUid, throughSeq } = named;
  const model = answeringModel(config, config.QUICK_MODEL);
  const request: ModelRequest = {
    ...titlePrompt(model, named.turns),
    maxOutputTokens: TITLE_MAX_TOKENS,
    role: 'utility_title',
    promptId: `${turnId(throughSeq)}-title`,
  };
  const timeout = timeoutAfter(dependencies, TITLE_TIMEOUT_MS);
  const fields = { conversationId, throughSeq, model };
  try {
    const asked = await callAuxiliaryModel(dependencies, {
      work: 'titles',
      conversationId,
      ownerUid,
      request,
      maximumCharacters: ANSWER_CHARACTERS,
      signal: AbortSignal.any([timeout.signal, shutdown]),
    });
    const title = asked.finishReason === 'STOP' ? titleIn(asked.text) : undefined;
    const { usage, costMicros } = asked;
    await asked.settled;
    logger.log('INFO', title === undefined ? 'title_refused' : 'title_made', {
      ...fields,
      promptTokens: usage?.promptTokens,
      outputTokens: usage?.outputTokens,
      costMicros,
    });
    return title;
  } catch (error) {
    const reason = failureReason(error);
    logger.log('WARNING', 'title_failed', {
      ...fields,
      reason: timeout.signal.aborted ? 'TIMEOUT' : reason,
    });
    return undefined;
  } finally {
    timeout.stop();
  }
}
