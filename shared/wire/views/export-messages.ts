import { isTerminal, type Turn } from '#shared/conversation/documents/turn.ts';
import type { ExportLine } from '../resources/lifecycle.ts';
import type { MessageView } from '../resources/messages.ts';
import { toFinishReason } from '../finish-reason.ts';
import { answerView, hasAnswer, userMessageView } from './views.ts';

/** What became of a message's turn. */
export type Fate = Extract<ExportLine, { type: 'message' }>['fate'];

export interface ExportedMessage {
  message: MessageView;
  fate: Fate;
}

/** `replaced`: nothing else takes a turn out of the context that was answered in it and can be read. */
function fateOf(turn: Turn): Fate {
  if (turn.eraseTime !== undefined) return 'deleted';
  if (!isTerminal(turn.state)) return 'unanswered';
  if (turn.state === 'failed') return 'failed';
  if (turn.state === 'cancelled') return 'cancelled';
  if (turn.finishReason !== undefined && toFinishReason(turn.finishReason) === 'content-filter')
    return 'filtered';
  const wasNeverIn = turn.foldedInContext === false || turn.unreadable !== undefined;
  return turn.inContext || wasNeverIn ? 'answered' : 'replaced';
}

/** User message and answer, if there is one, of a turn. */
export function exportMessages(turn: Turn): ExportedMessage[] {
  const fate = fateOf(turn);
  const isAnswerGone = fate === 'deleted' && turn.user.parts.length > 0;
  return [
    { message: userMessageView(turn), fate: isAnswerGone ? 'answerDeleted' : fate },
    ...(hasAnswer(turn) ? [{ message: answerView(turn), fate }] : []),
  ];
}
