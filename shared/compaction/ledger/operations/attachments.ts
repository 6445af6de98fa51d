import { userTime } from '#shared/client-context/local-time.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { ledgerConstants } from '../ledger-constants.ts';

/** A file that somebody sent in a turn: a picture, a recording, a document. */
export interface Attachment {
  seq: number;
  /** When its turn began. */
  at: Date;
  speaker: 'user' | 'model';
  mimeType: string;
  part: Part;
  /** Whether the summariser gets it to see. */
  isShown: boolean;
}

function filesIn(turn: Turn, content: Content): Omit<Attachment, 'isShown'>[] {
  return content.parts.flatMap((part) => {
    const file = part.inlineData ?? part.fileData;
    if (file === undefined) return [];
    // What a client says of its file must not break out of the line that names it.
    const mimeType = /^[\w.+-]+\/[\w.+-]+/.exec(file.mimeType ?? '')?.[0] ?? 'unknown type';
    return [{ seq: turn.seq, at: userTime(turn), speaker: content.role, mimeType, part }];
  });
}

/** What a file adds to a request: base64 has four characters for three bytes. */
const inlineCharacters = ({ inlineData, upload }: Part): number | undefined =>
  inlineData?.data.length ?? (upload && Math.ceil(upload.sizeBytes / 3) * 4);

/**
 * The files of turns in order. The newest are shown, up to the bound of what one request may carry inline;
 * older ones are named only. A file at a foreign address carries nothing and is shown unless it is `leftOut`. Text
 * files are text.
 */
export function attachmentsIn(
  turns: readonly Turn[],
  leftOut: ReadonlySet<Part> = new Set(),
): Attachment[] {
  const files = turns.flatMap((turn) =>
    [turn.user, ...turn.contents].flatMap((content) => filesIn(turn, content)),
  );
  let left = ledgerConstants.attachmentCharacters.value;
  return files
    .toReversed()
    .map((file) => {
      const characters = inlineCharacters(file.part);
      left -= characters ?? 0;
      const hasRoom = characters === undefined || left >= 0;
      return { ...file, isShown: hasRoom && !leftOut.has(file.part) };
    })
    .toReversed();
}

/** The files that are shown, each behind a line that says which it is: they follow the text that names them. */
export const attachmentParts = (attachments: readonly Attachment[]): Part[] =>
  attachments.flatMap(({ seq, part, isShown }, index) =>
    isShown ? [{ text: `attachment ${index + 1}, of turn ${seq}:` }, part] : [],
  );

/** The line of the history that names a file: `user attachment 3: image/png`. */
export const attachmentLine = (
  { speaker, mimeType, isShown }: Attachment,
  number: number,
): string => `${speaker} attachment ${number}: ${mimeType}${isShown ? '' : ', not shown'}`;
