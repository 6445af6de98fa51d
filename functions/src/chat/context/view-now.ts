import type { ShrunkenView } from '#shared/compaction/shrunken-view.ts';
import type { ContextItem } from '#shared/conversation/context/assemble-context.ts';
import { namedParts, withoutFiles } from '#shared/conversation/context/left-out-files.ts';
import { modelThatAnswered } from '#shared/conversation/context/turn-model.ts';
import { shownUser } from '#shared/conversation/context/shown-user.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { withSaid } from '#functions/memory/prompt-memory.ts';
import type { Viewing } from '#functions/context/output-forms.ts';
import {
  viewOfFirstCall,
  viewOfNextCall,
  viewOfRound,
  type ConversationContext,
} from '../turns/start/next-call.ts';

/** The turn that is being answered, or waits for the app. */
interface OpenNow {
  turn: Turn;
  /** What its calls say of the memory beside the message. */
  said: string;
}

/**
 * The view of the next call: between two messages the context, else with the open turn as far as it is stored, whose
 * items have its state.
 */
export function viewNow(
  viewing: Viewing,
  context: ConversationContext,
  open: OpenNow | undefined,
): Pick<ShrunkenView, 'items' | 'tokens' | 'shrinkage'> {
  if (!open) return viewOfNextCall(viewing, context);
  const { seq, contents, ...turn } = open.turn;
  const user = shownUser({ ...turn, user: withSaid(turn.user, open.said) });
  const view =
    contents.length > 0
      ? viewOfRound(viewing, context, { seq, user, contents, model: modelThatAnswered(turn) })
      : viewOfFirstCall(viewing, context, { seq, user });
  const state: ContextItem['state'] = turn.state === 'awaiting_tool' ? 'awaiting_tool' : 'running';
  const leftOut = namedParts(open.turn.leftOutFiles ?? [], [...context.turns, open.turn]);
  const items = view.items.map((item) => ({
    ...item,
    content: withoutFiles(item.content, leftOut),
    ...(item.seq === seq && { state }),
  }));
  return { ...view, items };
}
