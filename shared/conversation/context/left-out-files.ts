import type { Content, Part } from '#shared/models/content.ts';
import type { AppError } from '#shared/lib/errors.ts';
import { z } from 'zod';

/**
 * Where a file stands that no prompt shows any more: a part of the user's message of a turn. No address: erasures need
 * not look for it.
 */
export const leftOutFileSchema = z.object({
  seq: z.number().int().positive(),
  /** Index in the parts of the message. */
  part: z.number().int().nonnegative(),
  mediaType: z.string().optional(),
});
export type LeftOutFile = z.infer<typeof leftOutFileSchema>;

/** A turn by its message. */
interface TurnMessage {
  seq: number;
  user: Content;
}

/** A file at an address that is not ours: whether it is still there tomorrow, only the model finds out. */
const isForeign = ({ fileData, upload }: Part): boolean =>
  fileData !== undefined && upload === undefined;

const isFile = ({ fileData, inlineData }: Part): boolean => (fileData ?? inlineData) !== undefined;

const mediaTypeOf = ({ fileData, inlineData }: Part): string | undefined =>
  (fileData ?? inlineData)?.mimeType;

/** The files in the messages of turns, by their parts. */
export const filesOfTurns = (turns: readonly TurnMessage[]): Map<Part, LeftOutFile> =>
  new Map(
    turns.flatMap(({ seq, user }) =>
      user.parts.flatMap((part, index): [Part, LeftOutFile][] =>
        isFile(part) ? [[part, { seq, part: index, mediaType: mediaTypeOf(part) }]] : [],
      ),
    ),
  );

/** The parts of the turns' messages that `files` name. */
export function namedParts(
  files: readonly LeftOutFile[],
  turns: readonly TurnMessage[],
): ReadonlySet<Part> {
  if (files.length === 0) return new Set();
  const names = new Set(files.map(({ seq, part }) => `${seq}/${part}`));
  return new Set(
    turns.flatMap(({ seq, user }) => user.parts.filter((_, index) => names.has(`${seq}/${index}`))),
  );
}

/** The parts of turns that one of them was answered without: no later prompt shows them either. */
export const leftOutParts = (
  turns: readonly (TurnMessage & { leftOutFiles?: readonly LeftOutFile[] | undefined })[],
): ReadonlySet<Part> =>
  namedParts(
    turns.flatMap(({ leftOutFiles = [] }) => leftOutFiles),
    turns,
  );

/** What stands in the place of a file. It has no address, which a model might refuse as well. */
const leftOutLine = (part: Part): Part => ({
  text: `[attached file (${mediaTypeOf(part) ?? 'unknown type'}): not shown, it could not be read any more]`,
});

/** The content with a line in the place of each file that is left out; the same object where it has none. */
export const withoutFiles = (content: Content, leftOut: ReadonlySet<Part>): Content =>
  leftOut.size === 0 || !content.parts.some((part) => leftOut.has(part))
    ? content
    : {
        ...content,
        parts: content.parts.map((part) => (leftOut.has(part) ? leftOutLine(part) : part)),
      };

/** The files that contents show. */
export const filesIn = (contents: readonly Content[]): Part[] =>
  contents.flatMap(({ parts }) => parts.filter(isFile));

/**
 * What to leave out of a refused request, one choice after the other: files at foreign addresses, which may have died;
 * then all, whose types another model may not take.
 */
export function choicesToLeaveOut(files: readonly Part[]): Part[][] {
  const foreign = files.filter(isForeign);
  const isRest = foreign.length < files.length;
  return [foreign, ...(isRest ? [[...files]] : [])].filter(({ length }) => length > 0);
}

/**
 * Whether a model may have refused a request for one of its files. Providers say so in changing words, with a 400, a 403
 * (a private video) or a 404. So every refusal counts but one that names another field or the deployment's own access.
 */
export function mayBeForFile({ reason, retryable, metadata }: AppError): boolean {
  if (reason === 'MODEL_UNKNOWN') return true;
  if (reason !== 'MODEL_REFUSED_REQUEST') return false;
  const { field, httpStatus, modelReason = '' } = metadata;
  if (retryable && (httpStatus !== '403' || modelReason.startsWith('API_KEY_'))) return false;
  return field === undefined || field.startsWith('contents');
}
