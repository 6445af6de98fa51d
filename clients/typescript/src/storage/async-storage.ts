import type { RecapStore } from '../api.ts';

/** What is used of `@react-native-async-storage/async-storage`, or of anything like it. */
interface AsyncStorage {
  getItem(key: string): Promise<string | null>;
  setItem(key: string, value: string): Promise<unknown>;
  removeItem(key: string): Promise<unknown>;
  getAllKeys(): Promise<readonly string[]>;
}

/** In AsyncStorage, under a name: one for each user of the device, such as `recap-${uid}`. */
export function asyncStorageStore(storage: AsyncStorage, name: string): RecapStore {
  const own = `${name}/`;
  return {
    get: async (key) => (await storage.getItem(own + key)) ?? undefined,
    set: async (key, value) => void (await storage.setItem(own + key, value)),
    delete: async (key) => void (await storage.removeItem(own + key)),
    keys: async (prefix) =>
      (await storage.getAllKeys())
        .filter((key) => key.startsWith(own + prefix))
        .map((key) => key.slice(own.length))
        .sort(),
  };
}
