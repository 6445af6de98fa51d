/** Letters and digits mixed as in a random id: nothing but zeros would weigh ten tokens more. */
const start = 'b7d4e2a9-6c31-4f8e-9d5a-c8e1f3';
const COUNT_DIGITS = 6;
const counted = new RegExp(`${start}\\d{${COUNT_DIGITS}}`, 'gu');

/** Ids that are the same in every run. */
export function countedIds(): { uuid: () => string } {
  let drawn = 0;
  return { uuid: () => `${start}${String(++drawn).padStart(COUNT_DIGITS, '0')}` };
}

/** A text with a mark in the place of each counted id: which number an id has says nothing about a prompt. */
export const withoutCountedIds = (text: string): string => text.replaceAll(counted, '@@@@MARK@@@@');
