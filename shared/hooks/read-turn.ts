import { answerText, contentText } from '#shared/models/content.ts';
import { turnId } from '#shared/conversation/documents/paths.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** A turn as code of an app reads it: text alone. */
export interface ReadTurn {
  /** `t_17`. */
  turnId: string;
  user: string;
  answer: string;
}

export const toReadTurn = ({
  seq,
  user,
  contents,
}: Pick<Turn, 'seq' | 'user' | 'contents'>): ReadTurn => ({
  turnId: turnId(seq),
  user: contentText(user),
  answer: answerText(contents),
});
