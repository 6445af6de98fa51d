import { shrinkContext, type ShrunkenView } from '../../../../shared/compaction/shrunken-view.ts';
import { estimateContentTokens } from '../../../../shared/compaction/token-estimate.ts';
import {
  assembleContext,
  turnItems,
  type ContextItem,
} from '../../../../shared/conversation/assemble-context.ts';
import type { Content } from '../../../../shared/conversation/content.ts';
import type { Head } from '../../../../shared/conversation/head.ts';
import type { History } from '../../../../shared/conversation/history.ts';
import { contextTokens } from '../../../../shared/conversation/meter.ts';
import { sendableTurn } from '../../../../shared/conversation/sendable.ts';
import type { Turn } from '../../../../shared/conversation/turn.ts';
import type { Sha256 } from '../../../../shared/ports.ts';
import type { MemoryTexts } from '../../../../shared/memory/render-memory.ts';
import type { Config } from '../../config.ts';
import { meterCounting, policyOf } from '../../conversation-policy.ts';

/** A head with all that its context is made of, from one generation. */
export interface ContextOfHead extends Head {
  history: History | undefined;
  memory?: MemoryTexts;
  turns: readonly Turn[];
}

/** What a view depends on beside the conversation. */
export interface Viewing {
  config: Config;
  sha256: Sha256;
}

const viewOf = (
  { config, sha256 }: Viewing,
  context: ContextOfHead,
  { items, tokens }: { items: readonly ContextItem[]; tokens: number },
): ShrunkenView =>
  shrinkContext({
    items,
    tokens,
    overheadTokens: context.context.overheadTokens,
    calibration: context.context.calibration,
    policy: policyOf(config, context),
    counting: meterCounting(context),
    blobName: config.BUILT_IN_TOOLS.includes('read_blob') ? sha256 : undefined,
  });

/**
 * What the next call sends before its new message: the context, shrunk while it is over the hard
 * threshold. The one function behind the call, its overflow check and `/context`.
 */
export function viewOfNextCall(viewing: Viewing, context: ContextOfHead): ShrunkenView {
  const { tokens } = contextTokens({ ...context, head: context });
  return viewOf(viewing, context, { items: assembleContext(context), tokens });
}

/** A turn that is being answered, as far as it has come. */
export interface OpenTurn {
  seq: number;
  user: Content;
  contents: readonly Content[];
  /** Tokens of the prompt up to a content, and of that content, as the model reported; absent: all is estimated. */
  reported?: { tokens: number; contents: number } | undefined;
}

/**
 * The same for a call between two rounds of a turn: the context, the message, and what came of its calls so
 * far, all of it under the same limits. The older outputs of the turn itself may be shortened, too.
 */
export function viewOfRound(
  viewing: Viewing,
  context: ContextOfHead,
  turn: OpenTurn,
): ShrunkenView {
  const { seq, user, contents, reported } = turn;
  const counting = meterCounting(context);
  const estimated = (some: readonly Content[]) =>
    Math.ceil(
      context.context.calibration *
        some.reduce((sum, content) => sum + estimateContentTokens(content, counting), 0),
    );
  const before = reported?.tokens ?? contextTokens({ ...context, head: context }).tokens;
  const after = reported ? contents.slice(reported.contents) : [user, ...contents];
  const own = turnItems(seq, sendableTurn([user, ...contents]));
  const items = [...assembleContext(context), ...own];
  return viewOf(viewing, context, { items, tokens: before + estimated(after) });
}
