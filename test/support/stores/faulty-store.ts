import { toStoreError } from '#functions/adapters/firestore/store-errors.ts';
import type {
  MemoryStoreHooks,
  StoreOperation,
} from '#infra/local/embedded/memory-document-store.ts';

/** How Firestore names what it refuses, with its gRPC code. */
export const storeFaults = [
  { name: 'ABORTED', code: 10 },
  { name: 'UNAVAILABLE', code: 14 },
  { name: 'DEADLINE_EXCEEDED', code: 4 },
  { name: 'RESOURCE_EXHAUSTED', code: 8 },
  { name: 'UNKNOWN', code: 2 },
] as const;

export interface StoreFault {
  code: number;
  /** The first call that it befalls, from 1, counted since `arm`. */
  nth: number;
  /** How many calls in a row. */
  calls: number;
  /** Only commits fail, and are applied all the same. */
  isReplyLost: boolean;
}

/** Hooks for a memory store that fails at chosen calls, with the errors that the real adapter makes. */
interface FaultyStore {
  hooks: MemoryStoreHooks;
  /** Counts from here on; without a fault nothing fails. */
  arm(fault?: StoreFault): void;
  /** Calls since `arm`. */
  calls(): number;
}

export function createFaultyStore(): FaultyStore {
  let count = 0;
  let fault: StoreFault | undefined;
  let isDue = false;
  const failure = (name: StoreOperation['name'], code: number) =>
    toStoreError(Object.assign(new Error('injected'), { code }), { operation: name, paths: [] });
  return {
    hooks: {
      beforeOperation: async ({ name }) => {
        count += 1;
        isDue = fault !== undefined && count >= fault.nth && count < fault.nth + fault.calls;
        if (!fault || !isDue || fault.isReplyLost) return;
        await Promise.reject(failure(name, fault.code));
      },
      afterCommit: async () => {
        if (fault?.isReplyLost && isDue) await Promise.reject(failure('commit', fault.code));
      },
    },
    arm(next) {
      count = 0;
      isDue = false;
      fault = next;
    },
    calls: () => count,
  };
}
