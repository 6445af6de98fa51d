import type { OutputForms } from '#shared/compaction/sent-outputs.ts';
import {
  isOverLimit,
  shrinkContext,
  type Shrinkage,
  type ShrunkenView,
} from '#shared/compaction/shrunken-view.ts';
import {
  itemsOfTurns,
  type ContextItem,
  type ShownSource,
} from '#shared/conversation/context/assemble-context.ts';
import { conversationPolicy } from '../config/conversation-policy.ts';
import { selectOutputForms, type Viewing } from './output-forms.ts';

type Sized = Parameters<typeof conversationPolicy>[1];

/** What a call shows of these items, which weigh `tokens` by the meter. */
export const shrunkenView = (
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
