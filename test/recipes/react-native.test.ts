import { describeNativeClient } from './native-suite.ts';
import { openReactNative } from './react-native-client.ts';

describeNativeClient('the React Native recipe', openReactNative);
