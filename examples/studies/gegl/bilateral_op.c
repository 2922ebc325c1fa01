/* bilateral_op.c: example:bilateral, see operations.h. The kernel gets the whole area at once, with the border that it needs. */
#include "../bilateral_kernel.h"
#include "operations.h"
#include "optimizer.h"

typedef struct BilateralOp {
    GeglOperationAreaFilter parent;
    int radius;
    double preserve;
    Optimizer *optimizer;
    float *weight; /* for the radius; as long as that is the same it is at the same place */
} BilateralOp;

typedef struct BilateralOpClass {
    GeglOperationAreaFilterClass parent;
} BilateralOpClass;

G_DEFINE_TYPE(BilateralOp, bilateral_op, GEGL_TYPE_OPERATION_AREA_FILTER)

enum { PROP_RADIUS = 1, PROP_PRESERVE, PROP_OPTIMIZER };

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    BilateralOp *op = (BilateralOp *)object;
    switch (id) {
    case PROP_RADIUS:
        op->radius = g_value_get_int(value);
        break;
    case PROP_PRESERVE:
        op->preserve = g_value_get_double(value);
        break;
    case PROP_OPTIMIZER:
        op->optimizer = g_value_get_pointer(value);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    const BilateralOp *op = (BilateralOp *)object;
    switch (id) {
    case PROP_RADIUS:
        g_value_set_int(value, op->radius);
        break;
    case PROP_PRESERVE:
        g_value_set_double(value, op->preserve);
        break;
    case PROP_OPTIMIZER:
        g_value_set_pointer(value, op->optimizer);
        break;
    default:
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    }
}

static void prepare(GeglOperation *operation) {
    BilateralOp *op = (BilateralOp *)operation;
    GeglOperationAreaFilter *area = GEGL_OPERATION_AREA_FILTER(operation);
    const Babl *format = babl_format("RGBA float");
    op->weight = g_renew(float, op->weight, bilateral_weight_count(op->radius));
    bilateral_weights(op->weight, op->radius);
    area->left = area->right = area->top = area->bottom = op->radius;
    gegl_operation_set_format(operation, "input", format);
    gegl_operation_set_format(operation, "output", format);
}

static BilateralFilter *kernel_for(const BilateralOp *op, const GeglRectangle *roi) {
    if (!op->optimizer)
        return bilateral_filter;
    BinoptCfgRef cfg = optimizer_configure(op->optimizer, (BinoptFunc)bilateral_filter);
    bilateral_configure(cfg, op->weight, op->radius, roi->width, roi->height);
    return (BilateralFilter *)optimizer_make(op->optimizer, cfg, (BinoptFunc)bilateral_filter);
}

static gboolean process(GeglOperation *operation, GeglBuffer *input, GeglBuffer *output, const GeglRectangle *roi,
                        gint level) {
    (void)level;
    const BilateralOp *op = (BilateralOp *)operation;
    const Babl *format = babl_format("RGBA float");
    int r = op->radius;
    GeglRectangle wider = {roi->x - r, roi->y - r, roi->width + 2 * r, roi->height + 2 * r};
    float *from = g_new(float, wider.width *wider.height *BILATERAL_CHANNELS);
    float *to = g_new(float, roi->width * roi->height * BILATERAL_CHANNELS);
    BilateralFilter *kernel = kernel_for(op, roi);
    gegl_buffer_get(input, &wider, 1, format, from, GEGL_AUTO_ROWSTRIDE, GEGL_ABYSS_NONE);
    kernel(op->weight, r, (float)op->preserve, from, wider.width, wider.height, to, roi->width, roi->height);
    gegl_buffer_set(output, roi, 0, format, to, GEGL_AUTO_ROWSTRIDE);
    if (op->optimizer)
        binopt_spec_delete(op->optimizer->handle, (BinoptFunc)kernel);
    g_free(from);
    g_free(to);
    return TRUE;
}

static void finalize(GObject *object) {
    g_free(((BilateralOp *)object)->weight);
    G_OBJECT_CLASS(bilateral_op_parent_class)->finalize(object);
}

static void bilateral_op_init(BilateralOp *op) {
    op->radius = 4;
    op->preserve = 8;
}

static void bilateral_op_class_init(BilateralOpClass *class) {
    GObjectClass *object = G_OBJECT_CLASS(class);
    GeglOperationClass *operation = GEGL_OPERATION_CLASS(class);
    object->set_property = set_property;
    object->get_property = get_property;
    object->finalize = finalize;
    operation->prepare = prepare;
    operation->cache_policy = GEGL_CACHE_POLICY_NEVER;
    GEGL_OPERATION_FILTER_CLASS(class)->process = process;
    gegl_operation_class_set_keys(operation, "name", "example:bilateral", "description",
                                  "Mean of the pixels around, weighted by distance and similarity", NULL);
    g_object_class_install_property(
        object, PROP_RADIUS,
        g_param_spec_int("blur-radius", "Radius", "Of the square around a pixel", 1, 100, 4, G_PARAM_READWRITE));
    g_object_class_install_property(object, PROP_PRESERVE,
                                    g_param_spec_double("edge-preservation", "Preservation",
                                                        "How much differences of colour count", 0, 100, 8,
                                                        G_PARAM_READWRITE));
    g_object_class_install_property(
        object, PROP_OPTIMIZER,
        g_param_spec_pointer("optimizer", "Optimizer", "Makes the kernel, or NULL", G_PARAM_READWRITE));
}
