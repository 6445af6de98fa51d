import type { CondensableOutput } from '../../../../shared/compaction/condense-output.ts';
import {
  condensingContents,
  CONDENSING_SUFFIX,
  condensingInstruction,
} from '../../../../shared/compaction/condense-prompt.ts';
import { usageCostMicros } from '../../../../shared/compaction/prices.ts';
import { turnId } from '../../../../shared/conversation/paths.ts';
import type { ModelRequest, ModelUsage } from '../../../../shared/ports.ts';
import { spendOnWork } from '../../quota/spend-on-work.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { untilAborted } from './abortable.ts';

/** Whose output is to be condensed. */
export interface CondensingFor {
  conversationId: string;
  ownerUid: string;
  seq: number;
}

interface Said {
  text: string;
  usage?: ModelUsage | undefined;
  finishReason?: string | undefined;
}

async function read(
  { model }: Pick<ChatDependencies, 'model'>,
  of: { request: ModelRequest; maximumCharacters: number; signal: AbortSignal },
): Promise<Said> {
  const { request, maximumCharacters, signal } = of;
  const said: Said = { text: '' };
  for await (const chunk of untilAborted(model.stream(request, signal), signal)) {
    for (const { text = '', thought } of chunk.parts) if (thought !== true) said.text += text;
    said.usage = chunk.usage ?? said.usage;
    said.finishReason = chunk.blockReason ?? chunk.finishReason ?? said.finishReason;
    if (said.text.length > maximumCharacters) break;
  }
  return said;
}

/** Counts what it cost into its user's dollars, behind the answer: nobody waits for it. */
function bill(dependencies: ChatDependencies, of: CondensingFor, usage: ModelUsage): void {
  const { config, afterwork } = dependencies;
  const { conversationId, ownerUid } = of;
  const costMicros = usageCostMicros(config.CONDENSING_MODEL, usage, config.MODEL_PRICES);
  const tokens = usage.promptTokens + usage.outputTokens + usage.thoughtsTokens;
  const spent = { work: 'condensing' as const, conversationId, ownerUid, tokens, costMicros };
  const work = spendOnWork(dependencies, spent).finally(() => afterwork.delete(work));
  afterwork.add(work);
}

/**
 * Asks the cheap model to condense one output of a turn, the `index`-th, and books what it took. Undefined where its
 * answer was cut, blocked or too long. Throws what the model throws.
 */
export async function askToCondense(
  dependencies: ChatDependencies,
  of: CondensingFor & { target: CondensableOutput; index: number },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { config, modelHealth, randomness } = dependencies;
  const { text } = of.target.offload;
  const { maximumCharacters } = of.target;
  const model = config.CONDENSING_MODEL;
  modelHealth.refusePaused(model);
  const request: ModelRequest = {
    model,
    systemInstruction: condensingInstruction,
    contents: condensingContents({ text, boundary: randomness.uuid(), maximumCharacters }),
    role: 'utility_compressor',
    promptId: `${turnId(of.seq)}${CONDENSING_SUFFIX}${of.index + 1}`,
  };
  const said = await read(dependencies, { request, maximumCharacters, signal });
  modelHealth.answered(model);
  if (said.usage) bill(dependencies, of, said.usage);
  return said.finishReason === 'STOP' ? said.text : undefined;
}
