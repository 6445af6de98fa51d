import type { Write } from '../../shared/ports.ts';

/** What the writes of a journal are about. */
export const isHistory = ({ path }: Write) => path.includes('/histories/');
export const isHead = ({ path }: Write) => path.split('/').length === 2;
export const isJob = ({ path }: Write) => path.endsWith('/jobs/compaction');
export const fieldOf = (write: Write, name: string) =>
  write.op === 'delete' ? undefined : write.fields[name];
