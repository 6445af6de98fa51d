import { badField, AppError } from '#shared/lib/errors.ts';
import { jsonFault, boundedJson } from '#shared/lib/json-text.ts';
import type { ToolResult } from '#shared/conversation/context/tool-results.ts';
import { cutHead } from '#shared/text/cut.ts';

/** What the model reads as the result of a call. */
export type ToolResponse = Record<string, unknown>;

/** An error as the model reads it; bounded. */
export const errorResponse = (message: string): ToolResponse => ({
  error: cutHead(message, ERROR_MAX_CHARACTERS),
});

/** What went wrong in a tool: of an AppError what everybody may read, of any other error nothing. */
export const failureResponse = (error: unknown): ToolResponse =>
  errorResponse(error instanceof AppError ? error.publicMessage : 'The tool failed.');

const isObject = (value: unknown): value is ToolResponse =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as a response: an object as it is, anything else as `output`. */
export const toToolResponse = (value: unknown): ToolResponse =>
  isObject(value) ? value : { output: value };

export const responseBytes = (response: ToolResponse): number =>
  Buffer.byteLength(JSON.stringify(response));

/** A tool's output as it is stored, and why it is an error in the place of what the tool gave. */
interface StorableResponse {
  response: ToolResponse;
  fault?: 'notJson' | 'tooLarge';
}

/**
 * A tool's output as it is stored: plain JSON that is bounded, at most `roomBytes` and OUTPUT_MAX_BYTES of it. What is
 * more, or is no JSON, becomes an error that says so.
 */
export function storableResponse(value: unknown, roomBytes: number): StorableResponse {
  let json: string;
  try {
    json = JSON.stringify(toToolResponse(value)) ?? '{}';
  } catch {
    const response = errorResponse('The tool gave something that is no JSON.');
    return { response, fault: 'notJson' };
  }
  const sizeBytes = Buffer.byteLength(json);
  const refusal =
    sizeBytes > OUTPUT_MAX_BYTES
      ? `The output has ${sizeBytes} bytes; the limit is ${OUTPUT_MAX_BYTES}. Ask for less at once.`
      : sizeBytes > roomBytes
        ? `The output has ${sizeBytes} bytes, and the tool calls of one answer may have ${roomBytes} more. Ask for less, or answer with what there is.`
        : undefined;
  return refusal === undefined
    ? { response: toToolResponse(boundedJson(JSON.parse(json))) }
    : { response: errorResponse(refusal), fault: 'tooLarge' };
}

/** Tools of one round that run at the same time. */
export const CALLS_AT_ONCE = 5;

/** Calls of one round that are run, by server and app together; what a model asks for beyond them gets an error response. */
export const CALLS_PER_ROUND = 32;

/** JSON of one output, bytes of UTF-8. */
const OUTPUT_MAX_BYTES = 1024 * 1024;

/**
 * JSON of all rounds of one turn, bytes of UTF-8: they are stored in one commit (3.5 MiB), at the end together
 * with an answer and frames. What does not fit becomes an error response.
 */
export const ROUNDS_MAX_BYTES = 1536 * 1024;

/** UTF-16 units of the message in an error response. */
const ERROR_MAX_CHARACTERS = 1_000;

/**
 * JSON of what one frame shows of arguments or of an output, bytes of UTF-8: a chunk of a stream holds 256 KiB.
 * The transcript has all of it.
 */
export const SHOWN_MAX_BYTES = 64 * 1024;

/** UTF-16 units that are shown of what is longer. */
export const SHOWN_BEGINNING_CHARACTERS = 4_000;

/** What an app says to one call, in the words of a request: one of the three. */
interface GivenResult {
  callId: string;
  output?: unknown;
  error?: string | undefined;
  approved?: boolean | undefined;
}

/**
 * The same as the use case takes it: a response that can be stored, or the user's word. Throws BAD_FIELD, which names
 * `field`, for what cannot.
 */
export function toToolResult(
  { callId, output, error, approved }: GivenResult,
  field: string,
): ToolResult {
  if (approved !== undefined) return { callId, kind: 'approval', isApproved: approved };
  const fault = jsonFault(output ?? error);
  if (fault !== undefined) throw badField(field, `\`${field}\` ${fault}.`);
  const response =
    error === undefined
      ? storableResponse(output, OUTPUT_MAX_BYTES).response
      : errorResponse(error);
  return { callId, kind: 'response', response };
}
