import { hash } from 'node:crypto';
import { z } from 'zod';
import {
  lastQuestionIndex,
  requestContentSchema,
  type RequestContent,
  textParts,
} from './request.ts';

const recordedAnswerSchema = z.strictObject({
  /** A label for the journal. */
  conversation: z.string().optional(),
  /** SHA-256 (hex) of the user's text, text parts joined by "\n". */
  userHash: z.string().regex(/^[0-9a-f]{64}$/),
  /** This is the answer to the n-th request with that text, from 1. */
  ordinal: z.int().min(1),
  /** The recorded model contents; contents of other roles are passed over. */
  contents: z.array(requestContentSchema),
  /** What Google's tools gave: fields of the candidate, as `groundingMetadata`, and the tokens that the model read. */
  metadata: z.record(z.string(), z.unknown()).optional(),
  toolTokens: z.int().min(1).optional(),
});
export type RecordedAnswer = z.infer<typeof recordedAnswerSchema>;

const mostParts = 12;

/**
 * Every run of neighbouring text parts, longest first and newest first among equals: what the app adds to
 * the user's own words (client context after, an unanswered message before) does not hide an answer.
 */
function userHashes(contents: readonly RequestContent[]): string[] {
  const parts = textParts(contents[lastQuestionIndex(contents)]).slice(-mostParts);
  const hashes: string[] = [];
  for (let length = parts.length; length > 0; length -= 1)
    for (let start = parts.length - length; start >= 0; start -= 1)
      hashes.push(hash('sha256', parts.slice(start, start + length).join('\n')));
  return hashes;
}

/** Answers that were recorded elsewhere, handed out by the user's text and how often it was asked. */
export class RecordedAnswers {
  readonly #answers = new Map<string, Map<number, RecordedAnswer>>();
  readonly #asked = new Map<string, number>();
  readonly #given = new Map<string, RecordedAnswer | undefined>();

  /** Throws a ZodError for another shape. Same text and ordinal: the newer registration wins. */
  register(answers: readonly unknown[]): void {
    for (const answer of z.array(recordedAnswerSchema).parse(answers)) {
      const byOrdinal = this.#answers.get(answer.userHash) ?? new Map<number, RecordedAnswer>();
      this.#answers.set(answer.userHash, byOrdinal.set(answer.ordinal, answer));
    }
  }

  clear(): void {
    this.#answers.clear();
    this.#asked.clear();
    this.#given.clear();
  }

  /**
   * The answer to this prompt. A prompt that was answered before is a retry: it gets the same answer and
   * uses up no ordinal. With `isInjectedFailure` nothing is used up either, because its retry will come.
   */
  find(request: {
    promptHash: string;
    contents: readonly RequestContent[];
    isInjectedFailure: boolean;
  }): RecordedAnswer | undefined {
    if (this.#answers.size === 0) return undefined;
    if (this.#given.has(request.promptHash)) return this.#given.get(request.promptHash);
    const userHash = userHashes(request.contents).find((each) => this.#answers.has(each));
    if (userHash === undefined) return undefined;
    const ordinal = (this.#asked.get(userHash) ?? 0) + 1;
    const answer = this.#answers.get(userHash)?.get(ordinal);
    if (request.isInjectedFailure) return answer;
    this.#asked.set(userHash, ordinal);
    this.#given.set(request.promptHash, answer);
    return answer;
  }
}
