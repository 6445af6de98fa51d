import { randomUUID } from 'node:crypto';
import * as firebaseApp from '@firebase/app';
import { getFunctions, type Functions } from '@firebase/functions';

/** What `firebase/auth` registers for the other SDKs; its way to do so is not in the types. */
function signIn(app: firebaseApp.FirebaseApp, token: string): void {
  const { _addComponent: add }: Record<string, unknown> = { ...firebaseApp };
  if (typeof add !== 'function') throw new Error('this version of Firebase registers otherwise');
  add(app, {
    name: 'auth-internal',
    type: 'PRIVATE',
    instantiationMode: 'LAZY',
    multipleInstances: false,
    serviceProps: {},
    onInstanceCreated: null,
    instanceFactory: () => ({ getToken: () => Promise.resolve({ accessToken: token }) }),
  });
}

/** Firebase's web SDK with a user signed in, whose ID token is `token`; without one nobody is. */
export function firebaseFunctions(
  project: string,
  token?: string,
): { functions: Functions; close: () => Promise<void> } {
  const app = firebaseApp.initializeApp({ projectId: project }, randomUUID());
  if (token !== undefined) signIn(app, token);
  return { functions: getFunctions(app), close: () => firebaseApp.deleteApp(app) };
}
