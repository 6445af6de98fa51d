import {
  contentText,
  lastQuestionIndex,
  type RequestContent,
  type ModelRequestBody,
  type RequestPart,
} from '#infra/fake-gemini/server/request.ts';
import { z } from 'zod';

/** Ends of sentences: CJK marks end at once, Latin ones only before white space (3.14, a.ts). */
const sentenceEnd = /(?<=[。！？])|(?<=[.!?]["'”’)\]]?)\s+/u;

/** The sentences of a text, in order, trimmed, marks of lists and quotes taken off; empty ones are left out. */
export function splitSentences(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.replace(/^[\s>]*(?:[-*•]\s+)?/u, '').split(sentenceEnd))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** The first `count` code points of a text: never half a surrogate pair. */
export function firstCodePoints(text: string, count: number): string {
  return Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join('');
}

const questionMark = /[?？]["'”’)\]]?$/u;
/** Words of four letters and more, and numbers: shorter ones stand in every sentence. */
const word = /[\p{L}\p{M}\p{N}]{4,}|\p{N}+/gu;

const isQuestion = (sentence: string): boolean => questionMark.test(sentence);
const wordsIn = (text: string): Set<string> => new Set(text.toLowerCase().match(word));

/** Among sentences that share as much with a question, the shorter one answers it. */
const LONG_CHARACTERS = 2_000;

/** The sentence that shares most with the question, rare words before common ones; the newest among equals. */
function bestSentence(sentences: readonly string[], question: string): string | undefined {
  const asked = wordsIn(question);
  const sharedWords = sentences.map((sentence) =>
    [...wordsIn(sentence)].filter((each) => asked.has(each)),
  );
  const counts = Map.groupBy(sharedWords.flat(), (each) => each);
  const weight = (each: string): number =>
    Math.log(1 + sentences.length / (counts.get(each)?.length ?? 1));
  let best: string | undefined;
  let bestScore = Number.MIN_VALUE;
  for (const [index, sentence] of sentences.entries()) {
    const sum = (sharedWords[index] ?? []).reduce((total, each) => total + weight(each), 0);
    const score = sum / (1 + sentence.length / LONG_CHARACTERS);
    if (score < bestScore) continue;
    best = sentence;
    bestScore = score;
  }
  return best;
}

/**
 * What an honest model with no other knowledge says: to a question the sentence of the prompt that shares most words
 * with it, verbatim, or "I do not know."; to anything else "Noted.". What a compaction lost is seen to be lost.
 */
export function answerFromContext(contents: readonly RequestContent[]): string {
  const questionIndex = lastQuestionIndex(contents);
  const questions = splitSentences(contentText(contents[questionIndex])).filter(isQuestion);
  if (questions.length === 0) return 'Noted.';
  const sentences = contents
    .toSpliced(questionIndex, 1)
    .flatMap((content) => splitSentences(contentText(content)))
    .filter((sentence) => !isQuestion(sentence));
  return bestSentence(sentences, questions.join(' ')) ?? 'I do not know.';
}

const toolsSchema = z.array(
  z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }),
);
const argumentsSchema = z.record(z.string(), z.unknown());

/** The functions that a request declares and allows to call. */
function callable({ tools = [], toolConfig }: ModelRequestBody) {
  const { mode, allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {};
  if (mode === 'NONE') return [];
  return toolsSchema
    .parse(tools)
    .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .filter(({ name }) => allowed === undefined || allowed.includes(name));
}

const callLine = /^call ([A-Za-z]\w*) ?(\{.*\})?$/;
const shownCharacters = 500;

/** The calls that a message orders, round by round: lines `call name {…}`, rounds parted by a line `then`. */
function orderedRounds(text: string): RequestPart[][] {
  const rounds: RequestPart[][] = [[]];
  for (const line of text.split('\n').map((each) => each.trim())) {
    const [, name, args = '{}'] = callLine.exec(line) ?? [];
    if (line === 'then') rounds.push([]);
    else if (name !== undefined)
      rounds
        .at(-1)
        ?.push({ functionCall: { name, args: argumentsSchema.parse(JSON.parse(args)) } });
  }
  return rounds.filter((round) => round.length > 0);
}

/**
 * What a model does that takes orders: in a message with lines `call name {"argument":1}` it makes these calls,
 * all lines of a round at once, and at last it says what the tools gave. Without declarations, and where they are
 * forbidden (mode NONE), it calls nothing. `undefined` for a message without such lines.
 */
export function callTools(body: ModelRequestBody): RequestPart[] | undefined {
  const contents = body.contents ?? [];
  const questionIndex = lastQuestionIndex(contents);
  const rounds = orderedRounds(contentText(contents[questionIndex]));
  if (rounds.length === 0) return undefined;
  const since = contents.slice(questionIndex + 1);
  const done = since.filter(({ parts }) => parts?.some((part) => part.functionCall)).length;
  const next = callable(body).length > 0 ? rounds[done] : undefined;
  if (next) return next;
  const results = since
    .flatMap(({ parts = [] }) => parts.flatMap((part) => part.functionResponse ?? []))
    .map(({ name, response }) => `${name}: ${JSON.stringify(response)}`);
  const text =
    results.length === 0 ? 'There are no tools.' : `The tools gave ${results.join(', ')}`;
  return [{ text: firstCodePoints(text, shownCharacters) }];
}

const schemaNode = z.looseObject({
  type: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  enum: z.array(z.unknown()).optional(),
});

/** A value that obeys a plain JSON Schema, with `text` for every string: all properties, empty arrays, no references. */
export function fillSchema(schema: unknown, text: string): unknown {
  const { type, properties = {}, enum: choices } = schemaNode.catch({}).parse(schema);
  if (choices !== undefined) return choices[0];
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, fillSchema(property, text)]),
    );
  if (type === 'array') return [];
  if (type === 'integer' || type === 'number') return 0;
  return type === 'boolean' ? false : text;
}
