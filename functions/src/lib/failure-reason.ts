import { AppError } from '#shared/lib/errors.ts';

/** Why something failed, for the log: a reason of ours, else the name of the error. Never its words, which may quote content. */
export function failureReason(error: unknown): string {
  if (error instanceof AppError) return error.reason;
  return error instanceof Error ? error.name : typeof error;
}

/** Why a call under a deadline (`withDeadline`) failed, for the log: a reason of ours, TIMEOUT, or INTERNAL. */
export function deadlineReason(error: unknown): string {
  if (error instanceof AppError) return error.reason;
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'TIMEOUT' : 'INTERNAL';
}

/**
 * What the log says of an error that code of an app has thrown: its name and where it comes from. Never its words, which may
 * quote content.
 */
export const errorOfApp = (error: unknown): { error?: string; stack?: string } =>
  error instanceof AppError
    ? {}
    : {
        error: error instanceof Error ? error.name : typeof error,
        ...(error instanceof Error && { stack: stackFrames(error) }),
      };

/** The nearest frames tell the place; more only lengthens the line. */
const FRAMES = 8;
/** The line above the frames of an error without a message. */
const HEADER = /^[\w$.]*(?:: )?(?:\n|$)/;
/** As V8 writes frames: a place in a file at the end, or a word for what has none. */
const FRAME = /^\s+at .*(?::\d+:\d+\)?|\(<anonymous>\)|\(native\)|\(index \d+\))$/;

/** Where the frames begin, or undefined where the message cannot be told from them for sure. */
function framesStart(stack: string, message: string): number | undefined {
  if (message === '') return HEADER.exec(stack)?.[0].length;
  const messageAt = stack.indexOf(message);
  return messageAt < 0 ? undefined : messageAt + message.length;
}

/**
 * Where an error comes from, for logs: up to eight frames, nearest first, without its message, which may
 * quote what a user wrote and, having several lines, look like frames itself. '' where there are none or
 * the message was changed after the error was made.
 */
export function stackFrames(error: Error): string {
  const { stack = '', message } = error;
  const start = framesStart(stack, message);
  if (start === undefined) return '';
  return stack
    .slice(start)
    .split('\n')
    .filter((line) => FRAME.test(line))
    .slice(0, FRAMES)
    .map((line) => line.trim())
    .join(' | ');
}
