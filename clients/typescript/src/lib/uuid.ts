/** A UUID, version 4, where the platform draws none: ids have to differ, and need not be secret. */
function drawUuid(): string {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (place) => {
    const digit = Math.floor(Math.random() * 16);
    return (place === 'x' ? digit : (digit & 3) | 8).toString(16);
  });
}

export const randomUuid = (): string => globalThis.crypto?.randomUUID?.() ?? drawUuid();
