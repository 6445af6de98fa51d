import { createFirestoreDocumentStore } from '../../functions/src/adapters/firestore-document-store.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/emulator-environment.ts';
import { describeDocumentStore } from './document-store.suite.ts';

describeDocumentStore('Firestore emulator', () => {
  firestoreEmulatorHost();
  return createFirestoreDocumentStore({ projectId: demoProjectId(), deadlineMs: 20_000 });
});
