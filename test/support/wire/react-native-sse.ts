import imported from 'react-native-sse';
import { ReactNativeXmlHttpRequest } from './react-native-xhr.ts';

Object.assign(globalThis, { XMLHttpRequest: ReactNativeXmlHttpRequest });

/** The class as an app of React Native imports it: Metro and Vite unwrap the module, Node does not. */
export const ReactNativeEventSource = 'default' in imported ? imported.default : imported;
