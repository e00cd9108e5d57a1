import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', 'src/api/schema.d.ts'] },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'e2e/**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-floating-promises': ['error', { allowForKnownSafeCalls: [{ from: 'package', name: ['test'], package: 'node:test' }] }],
      // uPlot's are const enums, whose members only its own files can name.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'names in models are hostile text' },
        { property: 'outerHTML', message: 'names in models are hostile text' },
        { property: 'insertAdjacentHTML', message: 'names in models are hostile text' },
      ],
      'no-restricted-syntax': [
        'error',
        { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: 'names in models are hostile text' },
      ],
    },
  },
);
