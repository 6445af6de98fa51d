import { AppError } from '#shared/errors.ts';
import { NOTES_MAX } from '#shared/memory/note.ts';

/** 400: one note more than there may be. */
export const memoryFull = () =>
  new AppError({
    status: 'FAILED_PRECONDITION',
    reason: 'MEMORY_FULL',
    message: `a user has ${NOTES_MAX} notes`,
    publicMessage: `A user may have ${NOTES_MAX} notes, and has them. Delete one that is no longer needed, or put two into one.`,
    metadata: { notesMax: String(NOTES_MAX) },
  });

/** 404: no such note. */
export const memoryNotFound = (memoryId: string) =>
  new AppError({
    status: 'NOT_FOUND',
    reason: 'MEMORY_NOT_FOUND',
    message: 'no such note of this caller',
    publicMessage: 'You have no such note. Check its id in the list of memories.',
    metadata: { memoryId },
  });

/** 409: the id has a note that says something else. */
export const memoryIdTaken = (memoryId: string) =>
  new AppError({
    status: 'ALREADY_EXISTS',
    reason: 'IDEMPOTENCY_KEY_REUSED',
    message: 'another note of this caller has the id',
    publicMessage:
      'You have another note with this `id`. Choose a new one, or change that note with PATCH.',
    metadata: { id: memoryId },
  });

/** 409: the id had a note. */
export const memoryDeleted = (memoryId: string) =>
  new AppError({
    status: 'ALREADY_EXISTS',
    reason: 'IDEMPOTENCY_KEY_REUSED',
    message: 'the note of this id was deleted',
    publicMessage: 'The note with this `id` was deleted. Choose a new one to save it again.',
    metadata: { id: memoryId },
  });
