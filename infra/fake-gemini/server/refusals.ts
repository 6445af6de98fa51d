import type { Address, ModelRequestBody, RequestContent, RequestPart } from './request.ts';
import { toolKinds } from '../answers/ground.ts';
import { isReadable, signsCalls } from '../answers/signatures.ts';

/** An error as Google's APIs answer it. */
export interface GoogleError {
  code: number;
  status: string;
  message: string;
  details?: readonly object[];
}

/** 400 INVALID_ARGUMENT with Google's wording. */
export function invalidArgument(message: string): GoogleError {
  return { code: 400, status: 'INVALID_ARGUMENT', message };
}

/** 404 NOT_FOUND, as for a model that the API does not have. */
export function notFound(message: string): GoogleError {
  return { code: 404, status: 'NOT_FOUND', message };
}

const knownModels = /^(?:gemini|gemma)/;

const partsMismatch =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';

function calls(content: RequestContent | undefined): RequestPart[] {
  return (content?.parts ?? []).filter((part) => part.functionCall !== undefined);
}

function responses(content: RequestContent | undefined): RequestPart[] {
  return (content?.parts ?? []).filter((part) => part.functionResponse !== undefined);
}

/** An empty text is one only as the bearer of a signature: so models end their streams. */
const isBare = ({ text, thoughtSignature }: RequestPart) =>
  text === '' && thoughtSignature === undefined;

function hasPayload(part: RequestPart): boolean {
  return Object.entries(part).some(
    ([key, value]) =>
      value !== undefined &&
      !['thought', 'thoughtSignature', 'videoMetadata', 'partMetadata'].includes(key) &&
      !(key === 'text' && isBare(part)),
  );
}

function refuseShape(contents: readonly RequestContent[]): GoogleError | undefined {
  if (contents.length === 0) {
    return invalidArgument('* GenerateContentRequest.contents: contents is not specified\n');
  }
  for (const [index, content] of contents.entries()) {
    const at = `* GenerateContentRequest.contents[${index}]`;
    if (content.role !== undefined && content.role !== 'user' && content.role !== 'model') {
      return invalidArgument('Please use a valid role: user, model.');
    }
    const parts = content.parts ?? [];
    if (parts.length === 0) {
      return invalidArgument(`${at}.parts: contents.parts must not be empty.\n`);
    }
    const empty = parts.findIndex((part) => !hasPayload(part));
    if (empty >= 0) {
      return invalidArgument(
        `${at}.parts[${empty}].data: required oneof field 'data' must have one initialized field\n`,
      );
    }
  }
  return undefined;
}

function isAnswered(call: RequestContent, answer: RequestContent | undefined): boolean {
  const open = calls(call).map((part) => part.functionCall?.name);
  const given = responses(answer).map((part) => part.functionResponse?.name);
  return open.length === given.length && open.every((name) => given.includes(name));
}

function refuseOrder(contents: readonly RequestContent[]): GoogleError | undefined {
  if (contents[0]?.role === 'model') {
    return invalidArgument('Please ensure that multiturn requests start with a user role.');
  }
  for (const [index, content] of contents.entries()) {
    const before = contents[index - 1];
    if (responses(content).length > 0 && calls(before).length === 0) {
      return invalidArgument(
        'Please ensure that function response turn comes immediately after a function call turn.',
      );
    }
    if (calls(content).length === 0) continue;
    if (before?.role === 'model') {
      return invalidArgument(
        'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
      );
    }
    if (!isAnswered(content, contents[index + 1])) return invalidArgument(partsMismatch);
  }
  return undefined;
}

/** Gemini 3 wants the signature back on the first call of each step of the current turn. */
function refuseUnsigned(
  model: string,
  contents: readonly RequestContent[],
): GoogleError | undefined {
  if (!signsCalls(model)) return undefined;
  const turnStart = contents.findLastIndex(
    (content) => content.role !== 'model' && responses(content).length === 0,
  );
  for (const [index, content] of contents.entries()) {
    const first = calls(content)[0];
    if (index <= turnStart || first === undefined || first.thoughtSignature) continue;
    return invalidArgument(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${first.functionCall?.name}\` , position ${index + 1}.`,
    );
  }
  return undefined;
}

/** A signature is readable for the model that made it, wherever in the history it stands. */
function refuseUnreadable(
  model: string,
  contents: readonly RequestContent[],
): GoogleError | undefined {
  const isWhole = contents.every(({ parts = [] }) =>
    parts.every(
      ({ thoughtSignature }) =>
        thoughtSignature === undefined || isReadable(model, thoughtSignature),
    ),
  );
  return isWhole ? undefined : invalidArgument('Corrupted thought signature.');
}

/** Google's own tools stand beside functions since Gemini 3, on the Gemini API with a field that Vertex AI does not know. */
function refuseTools(request: {
  model: string;
  api?: Address['api'];
  body: ModelRequestBody;
}): GoogleError | undefined {
  const { model, api = 'gemini', body } = request;
  const { canSearch, canRead, hasFunctions } = toolKinds(body);
  const isShown = body.toolConfig?.['includeServerSideToolInvocations'];
  if (api === 'vertex' && isShown !== undefined)
    return invalidArgument(
      'Invalid JSON payload received. Unknown name "includeServerSideToolInvocations" at \'tool_config\': Cannot find field.',
    );
  if (!hasFunctions || !(canSearch || canRead)) return undefined;
  if (!signsCalls(model))
    return invalidArgument('Tool use with function calling is unsupported by the model.');
  if (api === 'vertex' || isShown === true) return undefined;
  return invalidArgument(
    'Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.',
  );
}

/** 404 for a model that does not begin with `gemini` or `gemma`. */
export function refuseModel(address: Address): GoogleError | undefined {
  if (knownModels.test(address.model)) return undefined;
  return notFound(
    `models/${address.model} is not found for API version ${address.version}, or is not supported for ${address.operation}. Call ListModels to see the list of available models and their supported methods.`,
  );
}

/** Why the API would refuse to generate from this request, or undefined. Cheapest checks first. */
export function refuseGeneration(request: {
  model: string;
  /** Default: the Gemini API. */
  api?: Address['api'];
  body: ModelRequestBody;
  promptTokens: number;
  windowTokens: number;
}): GoogleError | undefined {
  const contents = request.body.contents ?? [];
  const refusal =
    refuseShape(contents) ??
    refuseOrder(contents) ??
    refuseTools(request) ??
    refuseUnsigned(request.model, contents) ??
    refuseUnreadable(request.model, contents);
  if (refusal !== undefined) return refusal;
  if (request.promptTokens <= request.windowTokens) return undefined;
  return invalidArgument(
    `The input token count (${request.promptTokens}) exceeds the maximum number of tokens allowed (${request.windowTokens}).`,
  );
}

/** The Gemini API counts contents only; Vertex takes system instruction and tools too. */
export function refuseCount(address: Address, body: ModelRequestBody): GoogleError | undefined {
  if (address.api === 'gemini') {
    const unknown = (['systemInstruction', 'tools', 'generationConfig'] as const).find(
      (field) => body[field] !== undefined,
    );
    if (unknown !== undefined) {
      return invalidArgument(
        `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.`,
      );
    }
  }
  if ((body.contents ?? []).length > 0) return undefined;
  return invalidArgument('* CountTokensRequest.contents: contents is not specified\n');
}
