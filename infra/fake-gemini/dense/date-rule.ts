/**
 * What says a date, and the date by the day on which it is said and the first group of the pattern; undefined where
 * that has no one meaning. The pattern has one group at most.
 */
export type DateRule = readonly [
  pattern: RegExp,
  date: (day: string, group: string) => string | undefined,
];
