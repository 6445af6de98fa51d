import type { DocumentFields, Write } from '#shared/ports/ports.ts';
import type { Content } from './content.ts';
import { cutIntoPieces } from './json-pieces.ts';
import { turnPiecePath } from './paths.ts';

const pieceWrites = (
  turn: { conversationId: string; seq: number },
  name: string,
  pieces: readonly string[],
): Write[] =>
  pieces.map((text, i) => ({
    op: 'create',
    path: turnPiecePath(turn, { of: name, index: i + 1 }),
    fields: { text },
  }));

/** The fields and overflow documents that store a new user content. */
export function encodeUser(turn: { conversationId: string; seq: number }, user: Content) {
  const [userJson = '', ...rest] = cutIntoPieces(JSON.stringify(user));
  const fields: DocumentFields = { userJson, userPieces: rest.length };
  return { fields, writes: pieceWrites(turn, 'u', rest) };
}

/**
 * The fields and overflow documents that store the answer of one attempt; of one that is stored more than
 * once (`step`), under names that no store before it has used.
 */
export function encodeAnswer(
  turn: { conversationId: string; seq: number; attempt: number; step?: number | undefined },
  contents: readonly Content[],
) {
  const [answerJson = '[]', ...rest] = cutIntoPieces(JSON.stringify(contents));
  const name = turn.step === undefined ? `a${turn.attempt}` : `a${turn.attempt}s${turn.step}`;
  const answerName = turn.step === undefined ? {} : { answerName: name };
  const fields: DocumentFields = { answerJson, answerPieces: rest.length, ...answerName };
  return { fields, writes: pieceWrites(turn, name, rest) };
}
