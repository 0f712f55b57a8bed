/** The limits of libraries, data documents and programs in memory; limits.ts has them among the others. */
export const partLimits = {
  policyPartsMax: 200, // libraries and data documents of a tenant
  policyPartRevisionsKept: 20,
  policyPartAttemptsMax: 5, // of a write whose libraries or documents others keep changing
  policyDependentsMax: 1_000, // policies and libraries that use one, when it is changed
  policyDependentErrorsMax: 20, // of them, that a refusal tells
  policyPartNameCharsMax: 253,
  libraryModulesMax: 32,
  libraryBytesMax: 256 * 1024, // of all its modules
  policyLibrariesBytesMax: 1024 * 1024, // of all libraries that one policy is compiled with, as JSON
  policyPartCheckMsMax: 5 * 60 * 1000, // of compiling and testing what uses a library or document, while a client waits
  policyDataBytesMax: 1024 * 1024, // of one document, as JSON
  policyDocumentsBytesMax: 3 * 1024 * 1024, // of all documents that one policy uses: the worker keeps a program with them
  policyDataValuesMax: 50_000,
  policyDataBodyBytesMax: 1024 * 1024 + 64 * 1024,
  instancesMax: 128, // programs in memory, and what their documents count for
  instanceDocumentBytes: 256 * 1024, // of documents that count as one program
} as const;
