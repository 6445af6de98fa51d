import type { MemoryTexts } from '#shared/conversation/context/memory-texts.ts';
import type { Config } from '#functions/config.ts';
import { conversationPolicy, meterCounting } from '#functions/config/conversation-policy.ts';
import {
  type OutputForms,
  type Shrinkage,
  type ShrunkenView,
  isOverLimit,
  shrinkContext,
} from '#shared/conversation/context/sent-view.ts';
import {
  type ContextItem,
  type ShownSource,
  assembleContext,
  itemsOfTurns,
  turnItems,
} from '#shared/conversation/context/assemble-context.ts';
import {
  type MeteredTurn,
  type ReportedCall,
  contextTokens,
  roundTokens,
} from '#shared/conversation/context/meter.ts';
import type { Content } from '#shared/models/content.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { sendableTurn } from '#shared/conversation/repair/repair-prompt.ts';
import type { Sha256 } from '#shared/ports/ports.ts';
import { estimateContentTokens } from '#shared/tokens/token-estimate.ts';

/** A conversation document with all that its context is made of, from one generation. */
export interface ConversationContext extends Conversation {
  history: History | undefined;
  memory?: MemoryTexts;
  turns: readonly MeteredTurn[];
}

const viewOf = (
  viewing: Viewing,
  context: ConversationContext,
  sized: { tokens: number; forms: OutputForms },
): ShrunkenView => shrunkenView(viewing, context, { items: assembleContext(context), ...sized });

/**
 * What the next call sends before its new message: the context, tool outputs in the forms in which they go, shrunk
 * while it is over the hard threshold. The one function behind the call, its overflow check and `/context`.
 */
export function viewOfNextCall(viewing: Viewing, context: ConversationContext): ShrunkenView {
  const forms = selectOutputForms(viewing, context);
  const { tokens } = contextTokens({ ...context, conversation: context }, forms);
  return viewOf(viewing, context, { tokens, forms });
}

/** The view of a turn's first call, with its message. */
export function viewOfFirstCall(
  viewing: Viewing,
  context: ConversationContext,
  { seq, user }: { seq: number; user: Content },
): ShrunkenView {
  const view = viewOfNextCall(viewing, context);
  const userTokens = estimateContentTokens(user, meterCounting(context));
  return {
    ...view,
    items: [...view.items, ...turnItems(seq, sendableTurn([user]))],
    tokens: view.tokens + Math.ceil(context.context.calibration * userTokens),
  };
}

/** A turn that is being answered, as far as it has come. */
interface OpenTurn {
  seq: number;
  user: Content;
  contents: readonly Content[];
  /** Answers it; absent while none is chosen. */
  model?: string | undefined;
  /** What the model reported of the call before; absent: all is estimated. */
  reported?: ReportedCall | undefined;
}

/** An open turn as if it stood in the context. */
function standing(
  context: ConversationContext,
  { seq, user, contents, model }: OpenTurn,
): MeteredTurn {
  const tokensOf = (some: readonly Content[]) =>
    some.reduce((sum, one) => sum + estimateContentTokens(one, meterCounting(context)), 0);
  const tokens = { user: tokensOf([user]), answer: tokensOf(contents) };
  return { seq, user, contents: [...contents], model, tokens, inContext: true };
}

/**
 * The same for a call between two rounds of a turn: the context, the message, and what came of its calls so
 * far, all of it under the same limits. The older outputs of the turn itself may be shortened, too.
 */
export function viewOfRound(
  viewing: Viewing,
  context: ConversationContext,
  open: OpenTurn,
): ShrunkenView {
  const forms = selectOutputForms(viewing, context);
  const turn = standing(context, open);
  const tokens = roundTokens({ ...context, conversation: context, turn }, forms, open.reported);
  return viewOf(viewing, { ...context, turns: [...context.turns, turn] }, { tokens, forms });
}

type Sized = Parameters<typeof conversationPolicy>[1];

/** What a call shows of these items, which weigh `tokens` by the meter. */
const shrunkenView = (
  { config }: Pick<Viewing, 'config'>,
  conversation: Sized,
  input: { items: readonly ContextItem[]; tokens: number; forms: OutputForms },
): ShrunkenView =>
  shrinkContext({
    ...input,
    ...conversation.context,
    tokens: input.tokens,
    policy: conversationPolicy(config, conversation),
  });

/** What the next call leaves out of a context that weighs `tokens`; undefined: nothing, without a look at the turns. */
export function countLeftOut(
  viewing: Viewing,
  conversation: Sized,
  context: Pick<ShownSource, 'history' | 'coveredThrough' | 'turns'> & { tokens: number },
): Shrinkage | undefined {
  const { tokens } = context;
  const policy = conversationPolicy(viewing.config, conversation);
  if (!isOverLimit({ ...conversation.context, tokens, policy })) return undefined;
  const forms = selectOutputForms(viewing, conversation);
  return shrunkenView(viewing, conversation, { items: itemsOfTurns(context), tokens, forms })
    .shrinkage;
}

/** What the forms of tool outputs depend on beside the conversation. */
export interface Viewing {
  config: Config;
  sha256: Sha256;
}

/** In which forms the tool outputs of a conversation are sent. One piece of work asks once: parts are weighed once. */
export const selectOutputForms = (
  { config, sha256 }: Viewing,
  conversation: Parameters<typeof conversationPolicy>[1],
): OutputForms => ({
  policy: conversationPolicy(config, conversation),
  counting: { ...meterCounting(conversation), weighed: new Map() },
  blobName: config.BUILT_IN_TOOLS.includes('read_blob') ? sha256 : undefined,
});
