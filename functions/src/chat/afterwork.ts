import type { ChatDependencies } from './chat-dependencies.ts';

/** Has the request that is being served end behind `work`, which nobody else waits for. */
export function addAfterwork(
  { afterwork }: Pick<ChatDependencies, 'afterwork'>,
  work: Promise<unknown>,
): void {
  afterwork.add(work);
  const remove = () => void afterwork.delete(work);
  work.then(remove, remove);
}
