import type { RequestPart, Address, ModelRequestBody, RequestContent } from './request.ts';
import { createHash } from 'node:crypto';

const MARK = 'signed-by';
/** Takes the place of a signature that is lost (Google's guide to thought signatures); Gemini 3 and later know it. */
export const SKIPPED = 'skip_thought_signature_validator';

const bare = (model: string): string => model.slice(model.lastIndexOf('/') + 1).toLowerCase();

/** Whether a model signs its calls, and wants the signatures back: those since Gemini 3. */
export const signsCalls = (model: string): boolean => /^gemini-(?![12][.-])/.test(bare(model));

/** What a model hides in a part of its own: readable for that model alone. Of one part it is always the same. */
export function signPart(model: string, part: RequestPart): string {
  const payload = JSON.stringify(part.functionCall ?? part.text ?? '');
  const digest = createHash('sha256').update(payload).digest('hex');
  return Buffer.from([MARK, bare(model), digest].join(' ')).toString('base64');
}

/** Whether a model takes a signature: one of its own making, or where it signs calls the documented placeholder. */
export function isReadable(model: string, signature: string): boolean {
  if (signature === SKIPPED) return signsCalls(model);
  const [mark, maker] = Buffer.from(signature, 'base64').toString().split(' ');
  return mark === MARK && maker === bare(model);
}

/** An error as Google's APIs answer it. */
export interface GoogleError {
  code: number;
  status: string;
  message: string;
  details?: readonly object[];
}

/** 400 INVALID_ARGUMENT with Google's wording. */
export const invalidArgument = (message: string): GoogleError => ({
  code: 400,
  status: 'INVALID_ARGUMENT',
  message,
});

/** 404 NOT_FOUND, as for a model that the API does not have. */
export const notFound = (message: string): GoogleError => ({
  code: 404,
  status: 'NOT_FOUND',
  message,
});

const calls = (content: RequestContent | undefined) =>
  (content?.parts ?? []).filter((part) => part.functionCall !== undefined);

const responses = (content: RequestContent | undefined) =>
  (content?.parts ?? []).filter((part) => part.functionResponse !== undefined);

const attributes = ['thought', 'thoughtSignature', 'videoMetadata', 'partMetadata'];

/** An empty text is a payload only as the bearer of a signature: so models end their streams. */
const hasPayload = (part: RequestPart): boolean =>
  Object.entries(part).some(
    ([key, value]) =>
      value !== undefined &&
      !attributes.includes(key) &&
      !(key === 'text' && value === '' && part.thoughtSignature === undefined),
  );

/** What is wrong with the form of the contents, in Google's words. */
function faultOfShape(contents: readonly RequestContent[]): string | undefined {
  if (contents.length === 0)
    return '* GenerateContentRequest.contents: contents is not specified\n';
  for (const [index, { role = 'user', parts = [] }] of contents.entries()) {
    const at = `* GenerateContentRequest.contents[${index}].parts`;
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.';
    if (parts.length === 0) return `${at}: contents.parts must not be empty.\n`;
    const empty = parts.findIndex((part) => !hasPayload(part));
    if (empty >= 0)
      return `${at}[${empty}].data: required oneof field 'data' must have one initialized field\n`;
  }
  return undefined;
}

function isAnswered(call: RequestContent, answer: RequestContent | undefined): boolean {
  const open = calls(call).map((part) => part.functionCall?.name);
  const answered = responses(answer).map((part) => part.functionResponse?.name);
  return open.length === answered.length && open.every((name) => answered.includes(name));
}

function faultOfOrder(contents: readonly RequestContent[]): string | undefined {
  if (contents[0]?.role === 'model')
    return 'Please ensure that multiturn requests start with a user role.';
  for (const [index, content] of contents.entries()) {
    const before = contents[index - 1];
    if (responses(content).length > 0 && calls(before).length === 0)
      return 'Please ensure that function response turn comes immediately after a function call turn.';
    if (calls(content).length === 0) continue;
    if (before?.role === 'model')
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
    if (!isAnswered(content, contents[index + 1]))
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
  }
  return undefined;
}

/** Gemini 3 wants the signature back on the first call of each step of the current turn. */
function faultOfSteps(model: string, contents: readonly RequestContent[]): string | undefined {
  if (!signsCalls(model)) return undefined;
  const turnStart = contents.findLastIndex(
    (content) => content.role !== 'model' && responses(content).length === 0,
  );
  const unsigned = contents
    .slice(turnStart + 1)
    .map((content) => calls(content)[0])
    .find((first) => first !== undefined && !first.thoughtSignature);
  return (
    unsigned &&
    `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`default_api:${unsigned.functionCall?.name}\`.`
  );
}

/** A signature is readable for the model that made it, wherever in the history it stands. */
const faultOfSignatures = (
  model: string,
  contents: readonly RequestContent[],
): string | undefined =>
  contents
    .flatMap(({ parts = [] }) => parts.flatMap((part) => part.thoughtSignature ?? []))
    .every((signature) => isReadable(model, signature))
    ? undefined
    : 'Corrupted thought signature.';

/** 404 for a model that does not begin with `gemini` or `gemma`. */
export function refuseModel({ model, version, operation }: Address): GoogleError | undefined {
  if (/^(?:gemini|gemma)/.test(model)) return undefined;
  return notFound(
    `models/${model} is not found for API version ${version}, or is not supported for ${operation}. Call ListModels to see the list of available models and their supported methods.`,
  );
}

/** Why the API would refuse to generate from this request, or undefined. Cheapest checks first. */
export function refuseGeneration(request: {
  model: string;
  body: ModelRequestBody;
  promptTokens: number;
  windowTokens: number;
}): GoogleError | undefined {
  const { model, promptTokens, windowTokens } = request;
  const contents = request.body.contents ?? [];
  const fault =
    faultOfShape(contents) ??
    faultOfOrder(contents) ??
    faultOfSteps(model, contents) ??
    faultOfSignatures(model, contents) ??
    (promptTokens > windowTokens
      ? `The input token count (${promptTokens}) exceeds the maximum number of tokens allowed (${windowTokens}).`
      : undefined);
  return fault === undefined ? undefined : invalidArgument(fault);
}

/** The Gemini API counts contents only; Vertex takes system instruction and tools too. */
export function refuseCount({ api }: Address, body: ModelRequestBody): GoogleError | undefined {
  const unknown = (['systemInstruction', 'tools', 'generationConfig'] as const).find(
    (field) => api === 'gemini' && body[field] !== undefined,
  );
  if (unknown !== undefined)
    return invalidArgument(
      `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`,
    );
  if ((body.contents ?? []).length > 0) return undefined;
  return invalidArgument('* CountTokensRequest.contents: contents is not specified\n');
}
