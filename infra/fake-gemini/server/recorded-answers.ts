import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  lastQuestionIndex,
  requestContentSchema,
  type RequestContent,
  type RequestPart,
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
});
export type RecordedAnswer = z.infer<typeof recordedAnswerSchema>;

const mostRemembered = 2_000;
const mostParts = 12;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Every run of neighbouring text parts, longest first and newest first among equals: what the app adds to
 * the user's own words (client context after, an unanswered message before) does not hide an answer.
 */
function userHashes(contents: readonly RequestContent[]): string[] {
  const parts = textParts(contents[lastQuestionIndex(contents)]).slice(-mostParts);
  const hashes: string[] = [];
  for (let length = parts.length; length > 0; length -= 1) {
    for (let start = parts.length - length; start >= 0; start -= 1) {
      hashes.push(sha256(parts.slice(start, start + length).join('\n')));
    }
  }
  return hashes;
}

/** The parts that a recorded answer says. */
export function recordedParts(answer: RecordedAnswer): RequestPart[] {
  return answer.contents
    .filter((content) => content.role !== 'user')
    .flatMap((content) => content.parts ?? []);
}

/** Answers that were recorded elsewhere, handed out by the user's text and how often it was asked. */
export class RecordedAnswers {
  readonly #answers = new Map<string, Map<number, RecordedAnswer>>();
  readonly #asked = new Map<string, number>();
  readonly #given = new Map<string, RecordedAnswer | undefined>();

  /** Throws a ZodError for another shape. Same text and ordinal: the newer registration wins. */
  register(answers: readonly unknown[]): void {
    for (const answer of z.array(recordedAnswerSchema).parse(answers)) {
      const known = this.#answers.get(answer.userHash) ?? new Map<number, RecordedAnswer>();
      known.set(answer.ordinal, answer);
      this.#answers.set(answer.userHash, known);
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
    const hash = userHashes(request.contents).find((each) => this.#answers.has(each));
    if (hash === undefined) return undefined;
    const ordinal = (this.#asked.get(hash) ?? 0) + 1;
    const answer = this.#answers.get(hash)?.get(ordinal);
    if (request.isInjectedFailure) return answer;
    this.#asked.set(hash, ordinal);
    this.#remember(request.promptHash, answer);
    return answer;
  }

  #remember(promptHash: string, answer: RecordedAnswer | undefined): void {
    this.#given.set(promptHash, answer);
    const oldest = this.#given.keys().next().value;
    if (this.#given.size > mostRemembered && oldest !== undefined) this.#given.delete(oldest);
  }
}
