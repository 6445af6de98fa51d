import { z } from 'zod';
import {
  lastQuestionIndex,
  type ModelRequestBody,
  type RequestContent,
  type RequestPart,
  contentText,
} from '../server/request.ts';
import { fillSchema } from './fill-schema.ts';
import { firstCodePoints } from './sentences.ts';

const toolsSchema = z.array(
  z.looseObject({ functionDeclarations: z.array(z.looseObject({ name: z.string() })).optional() }),
);

/** Whether a request declares functions and forbids to call them. */
const forbidsCalls = ({ toolConfig }: ModelRequestBody): boolean =>
  toolConfig?.functionCallingConfig?.mode === 'NONE';

/** Names of the functions that a request declares. */
function declaredNames({ tools }: ModelRequestBody): string[] {
  const parsed = toolsSchema.safeParse(tools ?? []);
  if (!parsed.success) return [];
  return parsed.data.flatMap(({ functionDeclarations = [] }) =>
    functionDeclarations.map(({ name }) => name),
  );
}

/** Under mode ANY a model calls a function whatever was said: here the first one that it may, with made-up arguments. */
function forcedCall({ tools, toolConfig }: ModelRequestBody): RequestPart[] | undefined {
  const { mode, allowedFunctionNames: allowed } = toolConfig?.functionCallingConfig ?? {};
  if (mode !== 'ANY') return undefined;
  const declared = toolsSchema.safeParse(tools ?? []).data ?? [];
  const called = declared
    .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
    .find(({ name }) => allowed === undefined || allowed.includes(name));
  if (!called) return undefined;
  const args = argumentsSchema
    .catch({})
    .parse(fillSchema(called['parametersJsonSchema'], 'something'));
  return [{ functionCall: { name: called.name, args } }];
}

const callLine = /^call ([A-Za-z]\w*) ?(\{.*\})?$/;
const argumentsSchema = z.record(z.string(), z.unknown());
const nextRound = 'then';
const shownCharacters = 500;

function partOf(line: string): RequestPart[] {
  const found = callLine.exec(line.trim());
  if (found?.[1] === undefined) return [];
  const args = argumentsSchema.parse(JSON.parse(found[2] ?? '{}'));
  return [{ functionCall: { name: found[1], args } }];
}

/** The calls that a message orders, round by round: lines `call name {…}`, rounds parted by a line `then`. */
function orderedRounds(text: string): RequestPart[][] {
  const rounds: RequestPart[][] = [[]];
  for (const line of text.split('\n')) {
    if (line.trim() === nextRound) rounds.push([]);
    else rounds.at(-1)?.push(...partOf(line));
  }
  return rounds.filter((round) => round.length > 0);
}

const responsesOf = (contents: readonly RequestContent[]) =>
  contents.flatMap(({ parts = [] }) => parts.flatMap((part) => part.functionResponse ?? []));

/**
 * What a model does that takes orders: in a message with lines `call name {"argument":1}` it makes these calls,
 * all lines of a round at once, and at last it says what the tools gave. Without declarations, and where they are
 * forbidden (mode NONE), it calls nothing. `undefined` for a message without such lines, unless mode is ANY.
 */
export function callTools(body: ModelRequestBody): RequestPart[] | undefined {
  const contents = body.contents ?? [];
  const questionIndex = lastQuestionIndex(contents);
  const rounds = orderedRounds(contentText(contents[questionIndex]));
  if (rounds.length === 0) return forcedCall(body);
  const since = contents.slice(questionIndex + 1);
  const done = since.filter(({ parts }) => parts?.some((part) => part.functionCall)).length;
  const mayCall = declaredNames(body).length > 0 && !forbidsCalls(body);
  const next = mayCall ? rounds[done] : undefined;
  if (next) return next;
  const given = responsesOf(since).map(
    ({ name, response }) => `${name}: ${JSON.stringify(response)}`,
  );
  const text = given.length === 0 ? 'There are no tools.' : `The tools gave ${given.join(', ')}`;
  return [{ text: firstCodePoints(text, shownCharacters) }];
}
