import { boundedJson } from '#shared/bounded-json.ts';
import { AppError } from '#shared/errors.ts';
import { utf8Length } from '#shared/store/names.ts';
import { cutHead } from '#shared/text/cut.ts';
import { ERROR_MAX_CHARACTERS, OUTPUT_MAX_BYTES } from './tool-limits.ts';

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
const toToolResponse = (value: unknown): ToolResponse =>
  isObject(value) ? value : { output: value };

export const responseBytes = (response: ToolResponse): number =>
  utf8Length(JSON.stringify(response));

/**
 * A tool's output as it is stored: plain JSON that is bounded, at most `roomBytes` and OUTPUT_MAX_BYTES of it. What is
 * more, or is no JSON, becomes an error that says so.
 */
export function storableResponse(value: unknown, roomBytes: number): ToolResponse {
  let json: string;
  try {
    json = JSON.stringify(toToolResponse(value)) ?? '{}';
  } catch {
    return errorResponse('The tool gave something that is no JSON.');
  }
  const sizeBytes = utf8Length(json);
  if (sizeBytes > OUTPUT_MAX_BYTES)
    return errorResponse(
      `The output has ${sizeBytes} bytes; the limit is ${OUTPUT_MAX_BYTES}. Ask for less at once.`,
    );
  if (sizeBytes > roomBytes)
    return errorResponse(
      `The output has ${sizeBytes} bytes, and the tool calls of one answer may have ${roomBytes} more. Ask for less, or answer with what there is.`,
    );
  return toToolResponse(boundedJson(JSON.parse(json)));
}
