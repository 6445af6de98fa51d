import type { Route } from '../route.ts';

/** What each chapter of the reference is about; one that is missing here is described by its name. */
const descriptions: Readonly<Record<string, string>> = {
  service: 'What anybody may ask: health and this document.',
  conversations:
    'Conversations of the caller and their life: create, change, delete, fork, export.',
  messages: 'The transcript, and ways to add to it; each answers as one JSON or as a stream.',
  turns: 'One question with its answer: how it stands, its stream, and its end.',
  stream: 'The stream of whatever the conversation is answering.',
  context: 'What the model would see now.',
  compactions: 'How the older part of a conversation became a summary.',
  foldedTurns: 'For webhooks that are called before a compaction: the turns that it folds.',
  pins: 'Facts that stay word for word through every compaction.',
  uploads: 'Files for messages: sent to a bucket first, then named by their ids.',
  users: 'Everything of the caller at once.',
  'ai-sdk': 'For `useChat` of the AI SDK; the same conversations in its protocol.',
  openai: 'For clients of OpenAI’s chat completions; the same conversations in their protocol.',
  callable: 'For Firebase callable functions; the same conversations in their protocol.',
};

/** Which chapter a route belongs to: the collection below a conversation or a user, or the first word. */
export function toTag({ path, access }: Pick<Route, 'path' | 'access'>): string {
  const [first = '', , below] = path.replace(/^\/(v1\/)?/, '').split('/');
  const isOwner = first === 'conversations' || first === 'users';
  if (access === 'public' && !isOwner) return 'service';
  return isOwner && below !== undefined ? below.replace(/:.*$/, '') : first;
}

/** A tag of the document. */
export const describedTag = (name: string) => ({
  name,
  description: descriptions[name] ?? `Everything under \`${name}\`.`,
});
