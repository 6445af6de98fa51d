import type { Content, Part, UploadedFile } from '#shared/models/content.ts';
import type { PromptFiles } from '#shared/models/model-entry.ts';
import { fileTitle } from './upload-parts.ts';

/** What becomes of a file in a request: the model gets it, or is told why not. */
export type FileAnswer =
  | { kind: 'shown'; part: Part }
  | { kind: 'gone' }
  /** Newer files have taken its place. */
  | { kind: 'tooOld' }
  /** The deployment has no bucket any more. */
  | { kind: 'off' };

const isMedia = (part: Part) => part.upload !== undefined && part.fileData !== undefined;

/** Only what a person sent: a model that names a file gets none. */
const mediaIn = (contents: readonly Content[]): UploadedFile[] =>
  contents
    .filter(({ role }) => role === 'user')
    .flatMap(({ parts }) =>
      parts.filter(isMedia).flatMap(({ upload }) => (upload ? [upload] : [])),
    );

/**
 * The files that a request shows, by path: the newest, as many as have `maxBytes` together. A file that is
 * named twice counts once.
 */
export function shownFiles(contents: readonly Content[], maxBytes: number): UploadedFile[] {
  const shown = new Map<string, UploadedFile>();
  let left = maxBytes;
  for (const upload of mediaIn(contents).toReversed()) {
    if (shown.has(upload.path)) continue;
    left -= upload.sizeBytes;
    if (left < 0) break;
    shown.set(upload.path, upload);
  }
  return [...shown.values()];
}

const kindOf = (mimeType = ''): keyof PromptFiles | undefined => {
  if (mimeType === 'application/pdf') return 'document';
  const [type] = mimeType.split('/');
  return type === 'image' || type === 'video' ? type : undefined;
};

/** The files that are more than a prompt may have of their kind: the oldest. */
function beyondLimits(contents: readonly Content[], limits: PromptFiles): ReadonlySet<Part> {
  const left = { image: Infinity, video: Infinity, document: Infinity, ...limits };
  const isBeyond = ({ inlineData, fileData }: Part) => {
    const kind = kindOf((inlineData ?? fileData)?.mimeType);
    return kind !== undefined && --left[kind] < 0;
  };
  const newestFirst = contents.flatMap(({ parts }) => parts).toReversed();
  return new Set(newestFirst.filter(isBeyond));
}

function tooOldLine({ upload, inlineData, fileData }: Part): Part {
  const mimeType = (inlineData ?? fileData)?.mimeType ?? 'unknown type';
  return { text: sentence(upload ?? { mimeType }, 'tooOld') };
}

/** The contents with no more files of a kind than a prompt may have: the oldest become a line of text. */
export function withinLimits(
  contents: readonly Content[],
  limits: PromptFiles,
): readonly Content[] {
  const beyond = beyondLimits(contents, limits);
  if (beyond.size === 0) return contents;
  return contents.map((content) => ({
    ...content,
    parts: content.parts.map((part) => (beyond.has(part) ? tooOldLine(part) : part)),
  }));
}

function sentence(
  upload: Pick<UploadedFile, 'name' | 'mimeType'>,
  kind: Exclude<FileAnswer['kind'], 'shown'>,
): string {
  switch (kind) {
    case 'gone':
      return `[attached file ${fileTitle(upload)}: it has been deleted]`;
    case 'tooOld':
      return `[attached file ${fileTitle(upload)}: not shown again, newer files have taken its place]`;
    case 'off':
      return `[attached file ${fileTitle(upload)}: it cannot be read now]`;
  }
}

function resolvedPart(part: Part, role: Content['role'], answers: ReadonlyMap<string, FileAnswer>) {
  const { upload, ...own } = part;
  if (upload === undefined) return part;
  if (own.fileData === undefined) return own;
  const answer = role === 'user' ? answers.get(upload.path) : undefined;
  if (answer?.kind === 'shown') return answer.part;
  return { text: sentence(upload, answer?.kind ?? 'tooOld') };
}

/** Whether contents hold what no model understands: references to uploads. */
export const namesUploads = (contents: readonly Content[]): boolean =>
  contents.some(({ parts }) => parts.some(({ upload }) => upload !== undefined));

/** The contents as a model takes them: files in the place of references, or a line that says what is missing. */
export const resolvedContents = (
  contents: readonly Content[],
  answers: ReadonlyMap<string, FileAnswer>,
): Content[] =>
  contents.map((content) => ({
    ...content,
    parts: content.parts.map((part) => resolvedPart(part, content.role, answers)),
  }));
