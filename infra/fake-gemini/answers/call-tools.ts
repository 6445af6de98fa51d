import { z } from 'zod';
import {
  lastQuestionIndex,
  type ModelRequestBody,
  type RequestPart,
  contentText,
} from '../server/request.ts';
import { firstCodePoints } from './sentences.ts';

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
