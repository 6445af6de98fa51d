import { boundedAnswer } from '../../../shared/conversation/bounded-answer.ts';
import { reportedCall } from '../../../shared/models/prices.ts';
import type { ModelRequest, ModelUsage } from '../../../shared/ports.ts';
import type { WorkName } from '../../../shared/quota/usage.ts';
import { callCostMicros } from '../models-in-use.ts';
import { spendOnWork } from '../quota/spend-on-work.ts';
import { untilAborted } from './answer/abortable.ts';
import type { ChatDependencies } from './chat-dependencies.ts';

/* Calls of a cheap model beside an answer: for a title, for the choice of a model, to condense an output. */

/** What the model said, without its thoughts. */
export interface SideAnswer {
  text: string;
  usage?: ModelUsage | undefined;
  finishReason?: string | undefined;
}

/**
 * The whole answer to one side call; of one that does not end, a little more than `maximumCharacters` (UTF-16
 * units). Throws what the model throws, and what `signal` was aborted with.
 */
export async function askBeside(
  { model }: Pick<ChatDependencies, 'model'>,
  of: { request: ModelRequest; maximumCharacters: number; signal: AbortSignal },
): Promise<SideAnswer> {
  const { request, maximumCharacters, signal } = of;
  const said: SideAnswer = { text: '' };
  for await (const sent of untilAborted(model.stream(request, signal), signal)) {
    const chunk = boundedAnswer(sent);
    for (const { text = '', thought } of chunk.parts) if (thought !== true) said.text += text;
    said.usage = chunk.usage ?? said.usage;
    said.finishReason = chunk.blockReason ?? chunk.finishReason ?? said.finishReason;
    if (said.text.length > maximumCharacters) break;
  }
  return said;
}

/** Which work a side call was, of which model, for whom. */
export interface SideWork {
  work: WorkName;
  model: string;
  conversationId: string;
  ownerUid: string;
}

/** What a side call cost, in millionths of a US dollar. */
interface SideBill {
  costMicros: number;
  /** Never rejects. The request that is served waits for it; who is waited for by that must wait here. */
  counted: Promise<void>;
}

/** Counts what a side call cost into its user's dollars, behind the answer. */
export function billBeside(
  dependencies: ChatDependencies,
  { model, ...of }: SideWork,
  usage: ModelUsage,
): SideBill {
  const { config, afterwork } = dependencies;
  const costMicros = callCostMicros(config, reportedCall(model, usage));
  const tokens = usage.promptTokens + usage.outputTokens + usage.thoughtsTokens;
  const counted = spendOnWork(dependencies, { ...of, tokens, costMicros }).finally(() =>
    afterwork.delete(counted),
  );
  afterwork.add(counted);
  return { costMicros, counted };
}
