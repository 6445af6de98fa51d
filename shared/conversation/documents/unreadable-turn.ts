import type { z } from 'zod';
import { safeParse } from '#shared/safe-parse.ts';

/** Without one of these nobody can say what a turn holds, or what became of it. */
const TELLING = ['state', 'inContext', 'userJson', 'userPieces', 'answerJson', 'answerPieces'];

/** What is wrong with a turn that cannot be read; undefined: nothing that matters. */
export const unreadableText = (problems: ReadonlyMap<string, string>): string | undefined => {
  const telling = TELLING.flatMap((name) => problems.get(name) ?? []);
  return telling.length === 0 ? undefined : telling.join(', ');
};

/**
 * What is read in the place of a turn's fields that cannot be read: a turn that has failed, says nothing and is in no
 * context. Its document stays as it is.
 */
export const substituteTurn = (path: string) => ({
  schemaVersion: 1 as const,
  seq: Number(/\d+$/u.exec(path)?.[0] ?? 1),
  messageId: '',
  state: 'failed' as const,
  attempt: 1,
  producer: '',
  leaseUntil: new Date(0),
  createTime: new Date(0),
  tokens: { user: 0, answer: 0 },
  inContext: false,
  userJson: '{"role":"user","parts":[]}',
  userPieces: 0,
  answerJson: '[]',
  answerPieces: 0,
});

/** What a JSON text says, or `substitute` and why it does not. */
export function readSaid<Said>(
  schema: z.ZodType<Said>,
  { text, field }: { text: string; field: string },
  substitute: Said,
): { said: Said; problem?: string } {
  try {
    const { data, error } = safeParse<Said>(schema, JSON.parse(text));
    if (!error) return { said: data };
    const [issue] = error.issues;
    return { said: substitute, problem: `${field} (${issue?.path.join('.')} ${issue?.code})` };
  } catch {
    return { said: substitute, problem: `${field} (no JSON)` };
  }
}
