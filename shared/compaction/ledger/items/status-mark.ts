import type { Item } from '#shared/conversation/documents/snapshot.ts';

type Status = NonNullable<Item['status']>;

const marks: Readonly<Record<Status, string>> = {
  todo: '[TODO]',
  in_progress: '[IN PROGRESS]',
  done: '[DONE]',
  tried: '[TRIED]',
};
const written = /^\s*\[(todo|in[ _]progress|done|tried)\][\s:]*(?=\S)/iu;

/** How a status stands before the text of an item; '' for none. */
export const statusMark = (status: Status | undefined): string =>
  status === undefined ? '' : `${marks[status]} `;

const statuses: Readonly<Record<string, Status>> = {
  todo: 'todo',
  in_progress: 'in_progress',
  done: 'done',
  tried: 'tried',
};

/** Text without the mark of a status that a model wrote into it, and that status. */
export function splitStatus(text: string): { text: string; status?: Status } {
  const found = written.exec(text);
  if (found === null) return { text };
  const status = statuses[(found[1] ?? '').toLowerCase().replace(' ', '_')];
  const rest = text.slice(found[0].length);
  return status === undefined ? { text: rest } : { text: rest, status };
}
