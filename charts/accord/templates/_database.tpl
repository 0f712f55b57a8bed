{{/*
The three databases: your own (database.existingSecret), one small Postgres of the chart's own (postgresql), a CloudNativePG
Cluster (cloudnativePg). All end with the same two roles: accord_owner owns the database and migrates; accord is what servers
and operators log in as, and is only a member of accord_app and accord_system, which `accord migrate` makes.
*/}}

{{- define "accord.checkDatabase" -}}
{{- $chosen := list -}}
{{- if .Values.database.existingSecret }}{{ $chosen = append $chosen "database.existingSecret" }}{{ end -}}
{{- if .Values.postgresql.enabled }}{{ $chosen = append $chosen "postgresql.enabled" }}{{ end -}}
{{- if .Values.cloudnativePg.enabled }}{{ $chosen = append $chosen "cloudnativePg.enabled" }}{{ end -}}
{{- if ne (len $chosen) 1 -}}
{{- fail (printf "\n\nAccord needs one database, and %s chosen. Set one of:\n  database.existingSecret   a Secret that names your own Postgres 18\n  cloudnativePg.enabled     a Cluster of CloudNativePG, whose operator must be there\n  postgresql.enabled        one small Postgres of the chart's own, for trying out\n" (empty $chosen | ternary "none is" (printf "%s are" (join " and " $chosen)))) -}}
{{- end -}}
{{- end -}}

{{/* The name of what the chart makes for its own databases. */}}
{{- define "accord.databaseName" -}}
{{- printf "%s-%s" (include "accord.fullname" .) (ternary "db" "postgresql" .Values.cloudnativePg.enabled) -}}
{{- end -}}

{{/* Takes a list: the root, "url" for the servers' role or "migrationUrl" for the owner. */}}
{{- define "accord.databaseUrl" -}}
{{- $root := index . 0 -}}
{{- $owner := eq (index . 1) "migrationUrl" -}}
{{- $variable := ternary "ACCORD_MIGRATION_URL" "ACCORD_DATABASE_URL" $owner -}}
{{- if $root.Values.database.existingSecret -}}
- name: {{ $variable }}
  valueFrom:
    secretKeyRef:
      name: {{ $root.Values.database.existingSecret | quote }}
      key: {{ ternary $root.Values.database.migrationUrlKey $root.Values.database.urlKey $owner | quote }}
{{- if and $root.Values.database.sessionUrlKey (not $owner) }}
- name: ACCORD_DATABASE_SESSION_URL
  valueFrom:
    secretKeyRef:
      name: {{ $root.Values.database.existingSecret | quote }}
      key: {{ $root.Values.database.sessionUrlKey | quote }}
{{- end }}
{{- else -}}
{{- $name := include "accord.databaseName" $root -}}
{{- $password := ternary "DATABASE_OWNER_PASSWORD" "DATABASE_PASSWORD" $owner -}}
- name: {{ $password }}
  valueFrom:
    secretKeyRef:
      name: {{ $name }}
      key: {{ ternary "owner-password" "password" $owner }}
- name: {{ $variable }}
  value: {{ printf "postgresql://%s:$(%s)@%s%s.%s.svc:5432/accord%s" (ternary "accord_owner" "accord" $owner) $password $name (ternary "-rw" "" $root.Values.cloudnativePg.enabled) $root.Release.Namespace (ternary "?sslmode=verify-full&sslrootcert=/etc/accord/database-ca/ca.crt" "" $root.Values.cloudnativePg.enabled) | quote }}
{{- end -}}
{{- end -}}

{{/* The certificate authority of the database: the Secret that has it, nothing where none is mounted. */}}
{{- define "accord.databaseCa" -}}
{{- if .Values.cloudnativePg.enabled -}}
{{- printf "%s-ca" (include "accord.databaseName" .) -}}
{{- else -}}
{{- .Values.database.caSecret -}}
{{- end -}}
{{- end -}}

{{/* Of each container of ours. The image's root is read-only; V8's compiled code is kept in /tmp for restarts. */}}
{{- define "accord.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if include "accord.databaseCa" . }}
- name: database-ca
  mountPath: /etc/accord/database-ca
  readOnly: true
{{- end }}
{{- if .Values.caBundle.configMap }}
- name: ca-bundle
  mountPath: /etc/accord/ca-bundle
  readOnly: true
{{- end }}
{{- end -}}

{{- define "accord.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 128Mi
{{- with include "accord.databaseCa" . }}
- name: database-ca
  secret:
    secretName: {{ . | quote }}
    items:
      - key: {{ ternary "ca.crt" $.Values.database.caKey $.Values.cloudnativePg.enabled | quote }}
        path: ca.crt
{{- end }}
{{- with .Values.caBundle }}
{{- if .configMap }}
- name: ca-bundle
  configMap:
    name: {{ .configMap | quote }}
    items:
      - key: {{ .key | quote }}
        path: ca.crt
{{- end }}
{{- end }}
{{- end -}}
