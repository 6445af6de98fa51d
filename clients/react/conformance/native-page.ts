// oxlint-disable-next-line import/no-unassigned-import -- it takes from the browser what the rest must not find
import './as-react-native.ts';
import { asyncStorageStore } from '../../typescript/src/index.ts';
import { driveHooks } from './drive-hooks.ts';

/** AsyncStorage of React Native, over what a browser keeps. */
const AsyncStorage = {
  getItem: async (key: string) => localStorage.getItem(key),
  setItem: async (key: string, value: string) => localStorage.setItem(key, value),
  removeItem: async (key: string) => localStorage.removeItem(key),
  getAllKeys: async () => Object.keys(localStorage),
};

await driveHooks((name) => asyncStorageStore(AsyncStorage, name));
