import type { Language } from '../languages.ts';
import { en, type ToolTexts } from './en.ts';
import { ja } from './ja.ts';

const texts: Record<Language, ToolTexts> = { en, ja };

export const selectToolTexts = (language: Language): ToolTexts => texts[language];
