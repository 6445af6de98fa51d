import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { callAuxiliaryModel } from '#functions/chat/features/auxiliary-model-call.ts';
import { answeringModel } from '#functions/models/models-in-use.ts';
import {
  type CondensableOutput,
  condensingContents,
  CONDENSING_SUFFIX,
  condensingInstruction,
} from '#shared/compaction/condense-output.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { ModelRequest } from '#shared/ports/ports.ts';

/** Whose output is to be condensed. */
interface CondensingFor {
  conversationId: string;
  ownerUid: string;
  seq: number;
}

/**
 * Asks the cheap model to condense one output of a turn, the `index`-th, and books what it took. Undefined where its
 * answer was cut, blocked or too long. Throws what the model throws.
 */
export async function askToCondense(
  dependencies: ChatDependencies,
  condensingFor: CondensingFor & { target: CondensableOutput; index: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { config, modelHealth, randomness } = dependencies;
  const { text } = condensingFor.target.offload;
  const { maximumCharacters } = condensingFor.target;
  const model = answeringModel(config, config.QUICK_MODEL);
  modelHealth.refusePaused(model);
  const request: ModelRequest = {
    model,
    systemInstruction: condensingInstruction,
    contents: condensingContents({ text, boundary: randomness.uuid(), maximumCharacters }),
    role: 'utility_compressor',
    promptId: `${turnId(condensingFor.seq)}${CONDENSING_SUFFIX}${condensingFor.index + 1}`,
  };
  const { conversationId, ownerUid } = condensingFor;
  const work = { work: 'condensing', conversationId, ownerUid, request } as const;
  const said = await callAuxiliaryModel(dependencies, { ...work, maximumCharacters, signal });
  modelHealth.answered(model);
  return said.finishReason === 'STOP' ? said.text : undefined;
}
